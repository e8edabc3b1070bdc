/** Reads the state of a response from the `status` of its object. */
import { member } from '../../../base/lib/json.ts'

export type ResponseEnd = 'completed' | 'incomplete' | 'failed' | 'cancelled'

const ENDS: ReadonlySet<unknown> = new Set(['completed', 'incomplete', 'failed', 'cancelled'])

/** Returns undefined for a document without a known status: it is not a response. */
export function readResponseStatus(
  document: unknown,
): 'queued' | 'in_progress' | ResponseEnd | undefined {
  const status = member(document, 'status')
  if (status === 'queued' || status === 'in_progress') return status
  // Written with one l by some vendors.
  if (status === 'canceled') return 'cancelled'
  return isEnd(status) ? status : undefined
}

function isEnd(status: unknown): status is ResponseEnd {
  return ENDS.has(status)
}
