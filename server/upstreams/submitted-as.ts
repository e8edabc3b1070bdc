/** Reads the id from a vendor's answer to a submission. */
import { UpstreamFailure } from './failure.ts'
import type { SubmittedTask } from './task-driver.ts'
import type { WireResponse } from './wire.ts'

/** Throws `unknown` without an id: the vendor has accepted the task, but it cannot be polled. */
export function submittedAs(id: unknown, { status }: WireResponse): SubmittedTask {
  if (typeof id === 'string' && id !== '') return { upstreamId: id }
  throw new UpstreamFailure('unknown', { status, message: 'no id in the answer' })
}
