/**
 * Waits for a recognition that was submitted, inside the call that wants it. Once it may have been
 * accepted nothing is submitted again: its id is asked after until there is an end.
 */
import type { JsonObject } from '../../lib/json.ts'
import { UpstreamFailure } from '../failure.ts'
import { type Outcome, refuseRecording } from '../read-outcome.ts'
import type { Wire } from '../upstream.ts'

const FIRST_WAIT_MS = 250
const WAIT_MS_MAX = 3_000
const WAIT_GROWTH = 1.5
/** Looks in a row that fail before the task is given up. */
const TROUBLES_MAX = 6

const SILENT = '20000003'
/** An unknown id, for one: a task that has just been submitted may not be known everywhere yet. */
const INVALID = '45000001'
/** The vendor could not fetch what we published. */
const UNREACHABLE = '45000006'

/** A recognition that has ended; without a document, nothing was said. */
export interface Recognised {
  readonly document?: JsonObject
}

/** Throws UpstreamFailure: `rejected` for a recording at fault, else `unknown`. */
export async function followTask(
  wire: Wire,
  look: () => Promise<Outcome>,
  deadlineMs: number,
): Promise<Recognised> {
  let troubles = 0
  let waitMs = FIRST_WAIT_MS
  for (;;) {
    const elapsedMs = await wire.wait(waitMs)
    waitMs = Math.min(WAIT_MS_MAX, waitMs * WAIT_GROWTH)
    const outcome = await look().catch(asTrouble)
    const isTrouble = outcome instanceof UpstreamFailure
    if (!isTrouble && outcome.state !== 'queued' && outcome.state !== 'processing') {
      const ended = conclude(outcome)
      if (ended) return ended
    }
    const isLost = isTrouble || outcome.state === 'failed'
    troubles = isLost ? troubles + 1 : 0
    if (troubles >= TROUBLES_MAX) throw givenUp('its state cannot be read', outcome)
    if (elapsedMs > deadlineMs) throw givenUp('no end in time', outcome)
  }
}

/** Undefined for an answer that says nothing of the task itself. */
export function conclude(outcome: Outcome): Recognised | undefined {
  if (outcome.state === 'done') return { document: outcome.document }
  if (outcome.state !== 'failed' || outcome.code === INVALID) return undefined
  if (outcome.code === SILENT) return {}
  if (outcome.code !== UNREACHABLE) throw refuseRecording(outcome)
  const message = `PUBLIC_URL must be reachable for the vendor: ${outcome.message}`
  throw new UpstreamFailure('channel_fault', { status: 200, code: outcome.code, message })
}

function asTrouble(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  throw error
}

function givenUp(why: string, last: Outcome | UpstreamFailure): UpstreamFailure {
  const words = 'message' in last ? `: ${last.message}` : ''
  return new UpstreamFailure('unknown', { message: `a recognition was given up, ${why}${words}` })
}
