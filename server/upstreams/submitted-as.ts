/** Reads the id from a vendor's answer to a submission. */
import { UpstreamFailure } from './failure.ts'
import type { SubmittedTask } from './task-driver.ts'
import type { WireResponse } from './wire.ts'

/** Throws `unknown` without an id: the vendor has accepted the task, but it cannot be polled. */
export function submittedAs(id: unknown, { status }: WireResponse): SubmittedTask {
  const upstreamId = readUpstreamId(id)
  if (upstreamId !== undefined) return { upstreamId }
  throw new UpstreamFailure('unknown', { status, message: 'no id in the answer' })
}

/** Reads an id that is a text or, as some gateways in between write it, a whole number. */
export function readUpstreamId(id: unknown): string | undefined {
  if (typeof id === 'string' && id !== '') return id
  return typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : undefined
}
