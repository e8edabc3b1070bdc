/** Converts errors of operator functions to answers of the admin API. */
import { GatewayError } from '../lib/errors.ts'
import { OperatorError } from '../lib/operator-error.ts'

/** An OperatorError becomes a 400 with its message, which is written for operators. */
export async function withOperatorErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    throw new GatewayError('invalid_request', { message: error.message, cause: error })
  }
}
