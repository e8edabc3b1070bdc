/** Converts errors of operator functions to answers of the admin API. */
import { CatalogError } from '../catalog/apply/file.ts'
import { GatewayError } from '../lib/errors.ts'
import { OperatorError } from '../lib/operator-error.ts'

/**
 * An OperatorError becomes a 400 with its message, which is written for operators. A catalog's
 * error names the field of its first mistake.
 */
export async function withOperatorErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    const param = paramOf(error)
    const details = { message: error.message, cause: error, ...(param ? { param } : {}) }
    throw new GatewayError('invalid_request', details)
  }
}

/** Requests name one channel or model: `channels[0].settings.key` is its `settings.key`. */
function paramOf(error: OperatorError): string | undefined {
  const [mistake] = error instanceof CatalogError ? error.mistakes : []
  return mistake?.path.replace(/^(channels|models)\[0\]\./, '')
}
