/**
 * Delivers a stream of a background response, which continues independently: a caller that
 * disconnects, or a stream that breaks, ends only this connection. Delivered output is recorded on
 * the way, and a stream that reaches the response's end settles it before the last bytes are sent.
 */

import type { Context } from '../../../base/http/context.ts'
import type { Relay } from '../../../wire/dialects/relay.ts'
import { type DeliveredStream, deliverStream } from '../../pipeline/answer/deliver.ts'
import type { StreamAnswer } from '../../pipeline/answer/open-answer.ts'
import type { Engine } from '../engine.ts'
import { type OwnTask, recordOutput } from '../store.ts'
import { settleNow } from './settle-response.ts'

const RECORD_INTERVAL_MS = 1_000

/** The response of a stream, and the output already delivered. */
export interface StreamPosition {
  readonly task: OwnTask
  /** Output bytes delivered before those that this stream's relay counts. */
  readonly bytesBefore: number
}

/** Delivers the stream to its end. Never rejects. */
export async function followResponse(
  engine: Engine,
  context: Context,
  answer: StreamAnswer,
  { task, bytesBefore }: StreamPosition,
): Promise<DeliveredStream> {
  const { relay } = answer
  let recordedBytes = 0
  const record = async () => {
    const { outputBytes, sequence = -1 } = relay.report()
    if (outputBytes <= recordedBytes) return
    recordedBytes = outputBytes
    const output = { bytes: bytesBefore + outputBytes, sequence }
    await recordOutput(engine.sql, task, output).catch((error: unknown) => {
      engine.services.log.warn({ task_id: task.id, error }, 'delivered output was not recorded')
    })
  }
  const timer = setInterval(() => void record(), RECORD_INTERVAL_MS)
  const { services } = engine
  // The quote does not bound the stream, since a stream that is cut can be resumed.
  const bounds = { totalMs: services.limits.streamTimeoutMs }
  const delivered = await deliverStream(context, detached(answer), services, bounds).finally(() =>
    clearInterval(timer),
  )
  context.facts.outcome = delivered.callerGone ? 'caller_gone' : delivered.end
  await record()
  if (relay.report().finished) await settle(engine, task, relay)
  delivered.release()
  return delivered
}

/** Stops reading when the caller disconnects, and adds no ending to a broken stream. */
function detached(answer: StreamAnswer): StreamAnswer {
  return { ...answer, stopsOnCancel: true, cutsWhenBroken: true }
}

/**
 * Settles the response at the end of its stream. After a failure a worker settles it, as it does a
 * completed response without usage in its last event, since its object may state it.
 */
async function settle(engine: Engine, task: OwnTask, relay: Relay): Promise<void> {
  const report = relay.report()
  if (!report.error && !report.usage) return
  const status = report.error ? 'failed' : 'completed'
  await settleNow(engine, task, { status, report }).catch((error: unknown) => {
    engine.services.log.warn({ task_id: task.id, error }, 'a response is left to a worker')
  })
}
