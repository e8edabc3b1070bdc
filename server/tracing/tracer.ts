/**
 * Traces for a collector: spans wait in a bounded queue and leave in batches. Tracing never holds
 * up a call: what a collector does not take is dropped and counted.
 */
import type { Context } from '../http/context.ts'
import type { Log } from '../lib/log.ts'
import { type Span, toSpans } from './span.ts'

const WAITING_MAX = 8192
const BATCH_MAX = 1024
const FLUSH_MS = 5_000

export interface Tracer {
  /** Notes a request whose answer is through. */
  note(context: Context): void
  /** Sends what waits, once, and ends. */
  stop(): Promise<void>
}

export interface TracerOptions {
  /** Sends one batch; rejects when the collector did not take it. */
  readonly send: (body: Buffer) => Promise<void>
  readonly dropped: (spans: number) => void
  readonly log: Log
}

export function createTracer({ send, dropped, log }: TracerOptions): Tracer {
  let waiting: Span[] = []
  let sending: Promise<void> | undefined
  let wasRefused = false

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX)
      waiting = waiting.slice(BATCH_MAX)
      try {
        await send(encodeSpans(batch))
        wasRefused = false
      } catch (error) {
        dropped(batch.length)
        if (!wasRefused) log.warn({ error }, 'the collector does not take traces')
        wasRefused = true
        return
      }
    }
  }

  function flushOnce(): Promise<void> {
    sending ??= flush().finally(() => {
      sending = undefined
    })
    return sending
  }

  const timer = setInterval(flushOnce, FLUSH_MS)
  timer.unref()
  return {
    note(context) {
      const spans = toSpans(context)
      if (waiting.length + spans.length > WAITING_MAX) {
        dropped(spans.length)
        return
      }
      waiting.push(...spans)
      if (waiting.length >= BATCH_MAX) void flushOnce()
    },
    async stop() {
      clearInterval(timer)
      await flushOnce()
    },
  }
}

function encodeSpans(spans: readonly Span[]): Buffer {
  const service = { key: 'service.name', value: { stringValue: 'tributary' } }
  const scopeSpans = [{ scope: { name: 'tributary' }, spans }]
  const resourceSpans = [{ resource: { attributes: [service] }, scopeSpans }]
  return Buffer.from(JSON.stringify({ resourceSpans }))
}
