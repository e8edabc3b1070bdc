/** What operators' functions throw, as an answer of the admin API. */
import { GatewayError } from '../lib/errors.ts'
import { OperatorError } from '../lib/operator-error.ts'

/** An OperatorError says in whole sentences what cannot be done: that is a 400, word for word. */
export async function withOperatorErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    throw new GatewayError('invalid_request', { message: error.message, cause: error })
  }
}
