/** The meaning of each status for callers: its cause, and the remedy. */
import { ERRORS, type ErrorRow } from '../../../base/lib/errors.ts'

/** One or two sentences for each status of the error table. */
export const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is at fault; the message names the field.',
  401: 'The key is missing, malformed, unknown, disabled or expired, or two keys were sent.',
  402:
    'The balance does not cover the call, or the account is in debt: `billing` has what the ' +
    'call would have held (`required`) and the balance. With `budget_exceeded`, a budget or the ' +
    'key’s spend limit is reached. Top up or raise it; retrying does not help.',
  403:
    'The account is suspended, this key may not call this model, or the console user ' +
    'lacks the permission (`step_up_required`: sign in again first).',
  404:
    'No such path, model or object, or it belongs to another account; the response does ' +
    'not tell which.',
  405: 'The path exists; the message lists the methods that it accepts.',
  408: 'The request did not arrive in time.',
  409:
    'A request with this Idempotency-Key is still running, or its response is not kept. ' +
    'The message contains its request id.',
  413: 'The body is larger than this endpoint accepts.',
  415: 'The body has a content type or a content encoding that this endpoint does not ' + 'accept.',
  422: 'This Idempotency-Key was used with a different request.',
  426: 'This path accepts only POST requests and upgrades to a WebSocket.',
  429: 'A limit of the account, the key or the model is reached. Wait for Retry-After seconds.',
  431: 'The request headers are too large.',
  500: 'The gateway failed internally. The hold is returned.',
  502:
    'The upstream provider failed, with any 5xx of its own. The hold is returned. If no work ' +
    'was done, `Retry-After` is the provider’s, and `x-should-retry` is `true`.',
  503:
    'The gateway cannot accept paid work now. Wait for Retry-After seconds; nothing was ' +
    'charged.',
}

export interface StatusRow {
  readonly status: number
  readonly type: string
  /** The messages of the error table for this status. */
  readonly messages: readonly string[]
  readonly meaning: string
}

/** Returns the error table by status, lowest first. */
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
