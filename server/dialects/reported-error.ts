/** An error that an upstream reports inside of an answer whose status was 200. */
import type { RelayReport } from './relay.ts'

export type ReportedError = NonNullable<RelayReport['error']>

/** What a caller is told when the upstream says nothing usable, or breaks off. */
export const UPSTREAM_ERROR: ReportedError = {
  type: 'server_error',
  message: 'upstream provider error',
}
