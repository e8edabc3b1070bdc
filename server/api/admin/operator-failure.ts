/** Converts errors of operator functions to answers of the admin API. */

import { type FieldFault, GatewayError } from '../../base/lib/errors.ts'
import { OperatorError } from '../../base/lib/operator-error.ts'
import { CatalogError } from '../../money/catalog/apply/file.ts'
import { ChangedEntry } from '../../money/catalog/revisions.ts'

/**
 * An OperatorError becomes a 400 with its message, which is written for operators. A catalog error
 * names the invalid fields, without the entry's own path if the request has a single entry. It is a
 * 409 if the only problem is names already in use, or if the entry has changed since it was read.
 */
export async function withOperatorErrors<T>(
  work: Promise<T>,
  entries: 'one' | 'several' = 'one',
): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    const problems = problemsOf(error, entries)
    const [first] = problems
    const details = {
      message: error.message,
      cause: error,
      ...(first ? { ...first, problems } : {}),
    }
    const isConflict = error instanceof ChangedEntry || isOfNames(error)
    throw new GatewayError(isConflict ? 'conflict' : 'invalid_request', details)
  }
}

/** True if names already in use are the only problem. */
function isOfNames(error: OperatorError): boolean {
  const mistakes = error instanceof CatalogError ? error.mistakes : []
  return mistakes.length > 0 && mistakes.every(({ isTaken }) => isTaken)
}

/** Returns the result of the work. Rejects with what `refuse` makes of an OperatorError. */
export function refuseAs<T>(
  work: Promise<T>,
  refuse: (error: OperatorError) => GatewayError,
): Promise<T> {
  return work.catch((error) => {
    throw error instanceof OperatorError ? refuse(error) : error
  })
}

export function conflict({ message }: OperatorError): GatewayError {
  return new GatewayError('conflict', { message })
}

/** In a request of one channel, `channels[0].settings.key` is its `settings.key`. */
function problemsOf(error: OperatorError, entries: 'one' | 'several'): FieldFault[] {
  const mistakes = error instanceof CatalogError ? error.mistakes : []
  return mistakes.flatMap(({ path, problem }) => {
    const param =
      entries === 'one' ? path.replace(/^(channels|models|price_lists)\[0\]\./, '') : path
    return param === '' ? [] : [{ param, problem }]
  })
}
