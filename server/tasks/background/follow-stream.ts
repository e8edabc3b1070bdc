/**
 * A stream of a background response. The response goes on without it: a caller that leaves, or a
 * stream that breaks, ends nothing but this connection. What was delivered is noted as it goes, and
 * a stream that reaches the response's end settles it before the last bytes go out.
 */
import type { Relay } from '../../dialects/relay.ts'
import type { Context } from '../../http/context.ts'
import { type Delivered, deliverStream } from '../../pipeline/answer/deliver.ts'
import type { StreamAnswer } from '../../pipeline/answer/open-answer.ts'
import type { Engine } from '../engine.ts'
import { noteOutput } from '../store.ts'
import { settleNow } from './settle-response.ts'

const NOTE_EVERY_MS = 1_000

export interface Followed {
  readonly taskId: string
  /** Bytes of output that were delivered before those that this stream's relay counts. */
  readonly bytesBefore: number
}

/** Delivers the stream to its end. Never rejects. */
export async function followResponse(
  engine: Engine,
  context: Context,
  answer: StreamAnswer,
  { taskId, bytesBefore }: Followed,
): Promise<Delivered> {
  const { relay } = answer
  let notedBytes = 0
  const note = async () => {
    const { outputBytes, sequence = -1 } = relay.report()
    if (outputBytes <= notedBytes) return
    notedBytes = outputBytes
    const noted = { bytes: bytesBefore + outputBytes, sequence }
    await noteOutput(engine.sql, taskId, noted).catch((error: unknown) => {
      engine.services.log.warn({ task_id: taskId, error }, 'delivered output is not noted')
    })
  }
  const timer = setInterval(() => void note(), NOTE_EVERY_MS)
  const { services } = engine
  // A stream that is cut can be resumed, so that the quote does not bound it.
  const bounds = { totalMs: services.limits.streamTimeoutMs }
  const delivered = await deliverStream(context, detached(answer), services, bounds)
  clearInterval(timer)
  context.facts.outcome = delivered.callerGone ? 'caller_gone' : delivered.end
  await note()
  if (relay.report().finished) await settle(engine, taskId, relay)
  delivered.release()
  return delivered
}

/** Nobody reads on for a caller that left, and what broke off has no ending. */
function detached(answer: StreamAnswer): StreamAnswer {
  return { ...answer, stopsOnCancel: true, cutsWhenBroken: true }
}

/**
 * What cannot be settled now is settled by a worker: the hold stays until then. So is a completed
 * response whose last event states no usage, since its object may.
 */
async function settle(engine: Engine, taskId: string, relay: Relay): Promise<void> {
  const report = relay.report()
  if (!report.error && !report.usage) return
  const status = report.error ? 'failed' : 'completed'
  await settleNow(engine, taskId, { status, report }).catch((error: unknown) => {
    engine.services.log.warn({ task_id: taskId, error }, 'a response is left to a worker')
  })
}
