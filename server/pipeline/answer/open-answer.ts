/**
 * Looks into an answer before anything of it goes to the caller: a whole answer is read, a stream
 * is read up to its first bytes. Until then an error can still become another attempt.
 */
import type { Readable } from 'node:stream'
import type { Relay, RelayReport } from '../../dialects/relay.ts'
import { OUTPUT_UNITS } from '../../lib/units.ts'
import { UpstreamFailure } from '../../upstreams/failure.ts'
import type { UpstreamAnswer } from '../../upstreams/upstream.ts'

export interface WholeAnswer {
  readonly kind: 'whole'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly report: RelayReport
}

export interface StreamAnswer {
  readonly kind: 'stream'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Bytes for the caller that are there already, once: no stream keeps them for its life. */
  readonly takeFirst: () => Buffer | undefined
  /** Paused. */
  readonly body: Readable
  readonly relay: Relay
  /** True when the upstream's body has ended within the first bytes. */
  readonly ended: boolean
  /** True when the vendor stops billing once its connection is closed. */
  readonly stopsOnCancel: boolean
  /** What broke off is cut: no clean end of the response. */
  readonly cutsWhenBroken: boolean
  readonly heartbeat: Buffer | undefined
}

export type OpenedAnswer = WholeAnswer | StreamAnswer

/**
 * Throws an UpstreamFailure when the answer turns out to be one. A whole answer and the first event
 * of a stream must be there `withinMs`; without it, only the wire has time-outs.
 */
export function openAnswer(
  answer: UpstreamAnswer,
  bytesMax: number,
  withinMs?: number,
): Promise<OpenedAnswer> {
  return answer.stream ? openStream(answer, withinMs) : openWhole(answer, bytesMax, withinMs)
}

/** Output that the vendor states is work done, and billed, though none of it can be seen. */
function refuse(answer: UpstreamAnswer): void {
  const report = answer.relay.report()
  if (!report.error || report.outputBytes > 0 || statesOutput(report)) return
  const failure = answer.refusal?.(report)
  if (!failure) return
  answer.body.destroy()
  throw failure
}

function statesOutput({ usage = {} }: RelayReport): boolean {
  return OUTPUT_UNITS.some((unit) => (usage[unit] ?? 0) > 0)
}

async function openWhole(
  answer: UpstreamAnswer,
  bytesMax: number,
  withinMs: number | undefined,
): Promise<WholeAnswer> {
  const chunks = await readWhole(answer.body, bytesMax, withinMs)
  const parts = readRelay(answer, chunks)
  refuse(answer)
  const bytes = parts.filter((part) => part !== undefined)
  const body = bytes.length === 1 && bytes[0] ? bytes[0] : Buffer.concat(bytes)
  const { status, headers, relay } = answer
  return { kind: 'whole', status, headers, body, report: relay.report() }
}

function readRelay({ relay }: UpstreamAnswer, chunks: readonly Buffer[]) {
  try {
    return [...chunks.map((chunk) => relay.push(chunk)), relay.end()]
  } catch (cause) {
    throw unreadable(cause)
  }
}

/** For example JSON that is nested so deeply that it cannot be written again. */
function unreadable(cause: unknown): UpstreamFailure {
  return new UpstreamFailure('unknown', { cause, message: 'an answer that cannot be read' })
}

/** By its events: iterating would cost a few promises for each chunk. */
function readWhole(
  body: Readable,
  bytesMax: number,
  withinMs: number | undefined,
): Promise<readonly Buffer[]> {
  if (body.destroyed) return Promise.reject(brokenOff(body.errored, 'the answer broke off'))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let timer: NodeJS.Timeout | undefined
    const fail = (failure: UpstreamFailure) => {
      clearTimeout(timer)
      body.on('error', ignore)
      body.destroy()
      reject(failure)
    }
    const onBroken = (cause?: Error) => fail(brokenOff(cause, 'the answer broke off'))
    body.on('data', (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size <= bytesMax) return
      fail(new UpstreamFailure('unknown', { message: `an answer over ${bytesMax} bytes` }))
    })
    if (withinMs !== undefined) {
      const late = () =>
        fail(new UpstreamFailure('unknown', { message: 'no whole answer in time' }))
      timer = setTimeout(late, toTimerMs(withinMs))
    }
    body.on('end', () => {
      clearTimeout(timer)
      resolve(chunks)
    })
    body.on('error', onBroken)
    body.on('close', () => {
      if (!body.readableEnded) onBroken()
    })
  })
}

function openStream(answer: UpstreamAnswer, withinMs: number | undefined): Promise<StreamAnswer> {
  const { body, relay, status, headers } = answer
  if (body.destroyed) return Promise.reject(brokenOff(body.errored, 'the stream broke off'))
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let timer: NodeJS.Timeout | undefined
    const finish = (ended: boolean) => {
      clearTimeout(timer)
      body.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
      // Errors between here and the delivery's own listeners must not become uncaught.
      body.on('error', ignore)
      try {
        refuse(answer)
      } catch (failure) {
        reject(failure)
        return
      }
      const stopsOnCancel = answer.stopsOnCancel ?? false
      const { heartbeat, cutsWhenBroken = false } = answer
      resolve({
        kind: 'stream',
        status,
        headers,
        takeFirst() {
          const taken = parts.splice(0)
          return taken.length > 1 ? Buffer.concat(taken) : taken[0]
        },
        body,
        relay,
        ended,
        stopsOnCancel,
        cutsWhenBroken,
        heartbeat,
      })
    }
    const take = (read: () => Buffer | undefined): boolean => {
      try {
        const out = read()
        if (out && out.length > 0) parts.push(out)
        return true
      } catch (cause) {
        onError(unreadable(cause))
        body.destroy()
        return false
      }
    }
    const onData = (chunk: Buffer) => {
      if (!take(() => relay.push(chunk))) return
      if (parts.length === 0 && !relay.report().error) return
      body.pause()
      finish(false)
    }
    const onEnd = () => {
      if (take(() => relay.end())) finish(true)
    }
    const onError = (cause: Error) => {
      clearTimeout(timer)
      reject(brokenOff(cause, 'the stream broke off'))
    }
    const onClose = () => onError(new Error('closed'))
    if (withinMs !== undefined) {
      const late = () => {
        onError(new UpstreamFailure('unknown', { message: 'no first event in time' }))
        body.destroy()
      }
      timer = setTimeout(late, toTimerMs(withinMs))
    }
    body.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
  })
}

/** An adapter may know better what it means. */
function brokenOff(cause: unknown, message: string): UpstreamFailure {
  return cause instanceof UpstreamFailure
    ? cause
    : new UpstreamFailure('unknown', { cause, message })
}

const TIMER_STEP_MS = 100

/**
 * Rounds a wait up to a tenth of a second: timers of one length share a list, and a list for each
 * call costs more than the timer.
 */
function toTimerMs(withinMs: number): number {
  return Math.max(0, Math.ceil(withinMs / TIMER_STEP_MS) * TIMER_STEP_MS)
}

function ignore(): void {}
