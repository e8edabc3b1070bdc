/** What a vendor's answer to a submission comes to. */
import { UpstreamFailure } from './failure.ts'
import type { SubmittedTask } from './task-driver.ts'
import type { WireResponse } from './upstream.ts'

/** Throws `unknown` without an id: the vendor has taken it, and nobody can ask after it. */
export function submittedAs(id: unknown, { status }: WireResponse): SubmittedTask {
  if (typeof id === 'string' && id !== '') return { upstreamId: id }
  throw new UpstreamFailure('unknown', { status, message: 'no id in the answer' })
}
