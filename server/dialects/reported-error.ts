/** An error that an upstream reports inside of an answer whose status was 200. */
import type { RelayReport } from './relay.ts'

export type ReportedError = NonNullable<RelayReport['error']>

/** The error for callers if the upstream states none that is usable, or the response is cut off. */
export const UPSTREAM_ERROR: ReportedError = {
  type: 'server_error',
  message: 'upstream provider error',
}
