// Refusals of ARK's media services in the words of its error table.
import { Refused } from '../kernel/exchange.ts'

export function invalid(param: string, more = '', code = 'InvalidParameter'): Refused {
  const message = `The parameter \`${param}\` specified in the request is not valid. ${more}`.trim()
  return new Refused({ status: 400, code, param, message })
}

export function missing(param: string): Refused {
  const message = `The request is missing the parameter \`${param}\`.`
  return new Refused({ status: 400, code: `MissingParameter.${param}`, param, message })
}

export function unsupported(param: string): Refused {
  const more = 'The model does not support it.'
  return invalid(param, more, 'InvalidParameter.UnsupportedParameter')
}

export function unknownMediaModel(model: string): Refused {
  const message = `The model or endpoint ${model} does not exist or you do not have access to it.`
  return new Refused({ status: 404, code: 'InvalidEndpointOrModel.NotFound', message })
}

export function sensitive(subject: 'InputText' | 'InputImage'): Refused {
  const message = 'The request failed because the input may contain sensitive information.'
  return new Refused({ status: 400, code: `${subject}SensitiveContentDetected`, message })
}
