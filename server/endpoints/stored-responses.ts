/** GET and DELETE /v1/responses/{id}: answers that the vendor keeps, for who created them. */
import { z } from 'zod'
import { GatewayError } from '../errors.ts'
import { sendBytes } from '../http/reply.ts'
import { askStored } from '../pipeline/ask-stored.ts'
import type { AccountEndpoint } from './endpoint.ts'

const response = z.looseObject({ id: z.string(), object: z.string() })

/** A stream of a stored response would need metering that it does not have. */
function refuseStream(query: URLSearchParams): void {
  if (query.get('stream') !== 'true') return
  throw new GatewayError('invalid_request', {
    message: 'stream: a stored response is read whole',
    param: 'stream',
  })
}

function declare(
  method: 'GET' | 'DELETE',
  path: string,
  inputItems: boolean,
  documentation: Pick<AccountEndpoint['documentation'], 'summary' | 'answer'>,
): AccountEndpoint {
  return {
    kind: 'account',
    method,
    paths: [path],
    envelope: 'nested',
    documentation: {
      ...documentation,
      tag: 'Text',
      example: () => ({ path: path.replace(':response_id', 'resp_9Wd3') }),
      errors: [400, 404, 502, 503],
    },
    async handle(context, caller, services) {
      refuseStream(context.query)
      const id = context.params.response_id ?? ''
      const query = context.query.toString()
      const reply = await askStored(context, caller, { method, id, inputItems, query }, services)
      if (method === 'DELETE' && reply.status === 200) {
        await services.storedAnswers.forget(caller.accountId, id)
      }
      sendBytes(context, reply.status, { 'content-type': reply.contentType }, reply.body)
    },
  }
}

export const getResponse = declare('GET', '/v1/responses/:response_id', false, {
  summary: 'Get a stored response',
  answer: response,
})

export const listInputItems = declare('GET', '/v1/responses/:response_id/input_items', true, {
  summary: 'List what a stored response was given',
  answer: z.looseObject({ object: z.string(), data: z.array(z.looseObject({})) }),
})

export const deleteResponse = declare('DELETE', '/v1/responses/:response_id', false, {
  summary: 'Delete a stored response',
  answer: response,
})
