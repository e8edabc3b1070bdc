/**
 * Waits within a call for a submitted recognition. Once it may have been accepted it is never
 * submitted again; its id is polled until it ends.
 */
import { isObject, type JsonObject } from '../../../base/lib/json.ts'
import { UpstreamFailure } from '../failure.ts'
import { isUnknownId, refuseRecording, type UpstreamTaskOutcome } from '../read-outcome.ts'
import type { Wire } from '../wire.ts'

const FIRST_WAIT_MS = 250
const WAIT_MS_MAX = 3_000
const WAIT_GROWTH = 1.5
/** Consecutive failed polls before the task is given up. */
const TROUBLES_MAX = 6

const SILENT = '20000003'
/** The vendor could not fetch the published upload. */
const UNREACHABLE = '45000006'

/** A recognition that has ended; without a document the recording had no speech. */
export interface Recognised {
  readonly document?: JsonObject
}

/**
 * Polls until the end. Throws UpstreamFailure: `rejected` for a faulty recording, else `unknown`.
 */
export async function followTask(
  wire: Wire,
  poll: () => Promise<UpstreamTaskOutcome>,
  deadlineMs: number,
): Promise<Recognised> {
  let troubles = 0
  let waitMs = FIRST_WAIT_MS
  for (;;) {
    const elapsedMs = await wire.wait(waitMs)
    waitMs = Math.min(WAIT_MS_MAX, waitMs * WAIT_GROWTH)
    const outcome = await poll().catch(asTrouble)
    const isTrouble = outcome instanceof UpstreamFailure
    const isRunning = !isTrouble && (outcome.state === 'queued' || outcome.state === 'processing')
    const ended = isTrouble || isRunning ? undefined : conclude(outcome)
    if (ended) return ended
    troubles = isRunning ? 0 : troubles + 1
    if (troubles >= TROUBLES_MAX) throw giveUp('its state cannot be read', outcome)
    if (elapsedMs > deadlineMs) throw giveUp('no end in time', outcome)
  }
}

/** Returns the end that an answer states; undefined where it is not about the task. */
export function conclude(outcome: UpstreamTaskOutcome): Recognised | undefined {
  const { state } = outcome
  if (state === 'done')
    return hasResult(outcome.document) ? { document: outcome.document } : undefined
  if (outcome.state !== 'failed' || isUnknownId(outcome)) return undefined
  if (outcome.code === SILENT) return {}
  if (outcome.code !== UNREACHABLE) throw refuseRecording(outcome)
  const message = `PUBLIC_URL must be reachable for the vendor: ${outcome.message}`
  throw new UpstreamFailure('channel_fault', { status: 200, code: outcome.code, message })
}

/** Returns false for a successful answer that is empty, cut off or not JSON. */
export function hasResult({ result, audio_info: audio }: JsonObject): boolean {
  return isObject(result) || isObject(audio)
}

function asTrouble(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  throw error
}

function giveUp(reason: string, last: UpstreamTaskOutcome | UpstreamFailure): UpstreamFailure {
  const words = 'message' in last ? `: ${last.message}` : ''
  return new UpstreamFailure('unknown', {
    message: `a recognition was given up, ${reason}${words}`,
  })
}
