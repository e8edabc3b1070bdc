/** What each status means for a caller: when it comes, and what to do about it. */
import { ERRORS, type ErrorRow } from '../../lib/errors.ts'

/** One sentence or two for each status of the error table. */
export const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is at fault; the message names the field.',
  401: 'The key is missing, malformed, unknown, disabled or expired, or two keys were sent.',
  402:
    'The balance does not cover the call, the account owes a debt, or the key’s spend limit is ' +
    'reached. Top up; repeating does not help.',
  403:
    'The account is suspended, this key may not call this model, or the console’s user may not ' +
    'do that (`step_up_required`: not before a fresh sign-in).',
  404: 'No such path, model or object, or it belongs to somebody else: nobody can tell which.',
  405: 'The path exists; the message names the methods that it takes.',
  408: 'The request did not arrive in time.',
  409:
    'A request with this Idempotency-Key is still running, or its answer is not kept. The ' +
    'message names its request id.',
  413: 'The body is larger than this endpoint takes.',
  415: 'The body has a content encoding, or a content type that this endpoint does not read.',
  422: 'This Idempotency-Key was used with another request.',
  426: 'A WebSocket was asked for: send a POST.',
  429: 'A limit of the account, the key or the model is reached. Wait for Retry-After seconds.',
  431: 'The request headers are too large.',
  500: 'A fault of the gateway. What was held for the call is returned.',
  502: 'The upstream provider failed. What was held for the call is returned.',
  503: 'The gateway cannot take paid work now. Wait for Retry-After seconds; nothing was charged.',
}

export interface StatusRow {
  readonly status: number
  readonly type: string
  /** The texts that the table has for this status. */
  readonly messages: readonly string[]
  readonly meaning: string
}

/** The error table by status, lowest first. */
export function listStatuses(): StatusRow[] {
  const rows: readonly ErrorRow[] = Object.values(ERRORS)
  const statuses = [...new Set(rows.map(({ status }) => status))].sort((a, b) => a - b)
  return statuses.map((status) => {
    const same = rows.filter((row) => row.status === status)
    return {
      status,
      type: same[0]?.type ?? 'server_error',
      messages: same.map(({ message }) => message),
      meaning: MEANINGS[status] ?? '',
    }
  })
}
