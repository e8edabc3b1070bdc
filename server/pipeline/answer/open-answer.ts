/**
 * Opens an answer before any of it is sent to the caller: a whole answer is read completely, a
 * stream up to its first bytes. Until then a failure can still lead to another attempt.
 */
import type { Readable } from 'node:stream'
import type { Relay, RelayReport } from '../../dialects/relay.ts'
import { OUTPUT_UNITS, type Unit } from '../../lib/units.ts'
import { UpstreamFailure } from '../../upstreams/failure.ts'
import type { UpstreamAnswer } from '../../upstreams/upstream.ts'
import { hasArrived } from '../../upstreams/wire.ts'
import { detectIn, PackedStream, unpackStream, unpackWhole } from './unpack-answer.ts'

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
  /** Returns the first bytes for the caller, once, so that they are not kept in memory. */
  readonly takeFirst: () => Buffer | undefined
  /** Paused. */
  readonly body: Readable
  readonly relay: Relay
  /** True if the upstream's body has already ended. */
  readonly ended: boolean
  /** True if the vendor stops billing once its connection is closed. */
  readonly stopsOnCancel: boolean
  /** True if an interrupted response is cut off instead of ended. */
  readonly cutsWhenBroken: boolean
  readonly heartbeat: Buffer | undefined
}

export type OpenedAnswer = WholeAnswer | StreamAnswer

/**
 * Opens an answer. Rejects with an UpstreamFailure if the answer is a refusal, or if a whole answer
 * or the first event of a stream is not complete within `withinMs`, if set.
 */
export function openAnswer(
  answer: UpstreamAnswer,
  bytesMax: number,
  withinMs?: number,
): Promise<OpenedAnswer> {
  return answer.stream ? openUnpacked(answer, withinMs) : openWhole(answer, bytesMax, withinMs)
}

async function openUnpacked(
  answer: UpstreamAnswer,
  withinMs: number | undefined,
): Promise<StreamAnswer> {
  try {
    return await openStream(answer, detectIn(answer), withinMs)
  } catch (cause) {
    if (!(cause instanceof PackedStream)) throw cause
    const unpacked = { ...answer, body: unpackStream(answer.body, cause) }
    return await openStream(unpacked, detectIn(unpacked, true), withinMs)
  }
}

/** Throws the refusal in an answer without output. Stated work is billed, even if not visible. */
function refuse(answer: UpstreamAnswer): void {
  const report = answer.relay.report()
  if (!report.error || report.outputBytes > 0 || statesWork(report)) return
  const failure = answer.refusal?.(report)
  if (!failure) return
  answer.body.destroy()
  throw failure
}

/** Units that are counted only for work that was done, as opposed to the request's own. */
const WORK_UNITS: readonly Unit[] = [
  ...OUTPUT_UNITS,
  'image',
  'web_search_call',
  'grounded_prompt',
  'file_search_call',
  'web_fetch_call',
  'code_execution_call',
  'container_minute',
]

function statesWork({ usage = {}, passes = [], statedCost }: RelayReport): boolean {
  const hasCost = statedCost !== undefined && statedCost.nanos > 0n
  return hasCost || passes.length > 0 || WORK_UNITS.some((unit) => (usage[unit] ?? 0) > 0)
}

async function openWhole(
  answer: UpstreamAnswer,
  bytesMax: number,
  withinMs: number | undefined,
): Promise<WholeAnswer> {
  const received = await readWhole(answer.body, bytesMax, withinMs)
  let chunks: readonly Buffer[]
  try {
    const unpacked = unpackWhole(received, bytesMax, answer)
    chunks = unpacked instanceof Promise ? await unpacked : unpacked
  } catch (cause) {
    throw unreadable(cause)
  }
  const parts = readRelay(answer, chunks)
  refuse(answer)
  const body = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
  const { status, headers, relay } = answer
  return { kind: 'whole', status, headers, body, report: relay.report() }
}

/** Returns what the caller gets of the answer. */
function readRelay({ relay }: UpstreamAnswer, chunks: readonly Buffer[]): readonly Buffer[] {
  const parts: Buffer[] = []
  try {
    for (const chunk of chunks) {
      const part = relay.push(chunk)
      if (part) parts.push(part)
    }
    const last = relay.end()
    if (last) parts.push(last)
    return parts
  } catch (cause) {
    throw unreadable(cause)
  }
}

/** The failure of an answer that cannot be read, for example JSON that is nested too deeply. */
function unreadable(cause: unknown): UpstreamFailure {
  return new UpstreamFailure('unknown', { cause, message: 'the answer cannot be read' })
}

/** Reads a body by its events, since iterating it would allocate promises for each chunk. */
function readWhole(
  body: Readable,
  bytesMax: number,
  withinMs: number | undefined,
): Promise<readonly Buffer[]> {
  if (body.destroyed) return Promise.reject(brokenOff(body.errored, 'the answer broke off'))
  if (hasArrived(body) && body.readableLength <= bytesMax) {
    // A small answer arrives with its head: it needs no listeners, and one read returns all of it.
    const all: Buffer | null = body.read()
    return Promise.resolve(all ? [all] : [])
  }
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
      fail(new UpstreamFailure('unknown', { message: `the answer exceeds ${bytesMax} bytes` }))
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

/** Reads the start of a stream by `reader`, which is the answer's relay behind a detector. */
function openStream(
  answer: UpstreamAnswer,
  reader: Pick<Relay, 'push' | 'end'>,
  withinMs: number | undefined,
): Promise<StreamAnswer> {
  const { body, relay } = answer
  if (body.destroyed) return Promise.reject(brokenOff(body.errored, 'the stream broke off'))
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let timer: NodeJS.Timeout | undefined
    const stopReading = () => {
      clearTimeout(timer)
      body.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
      // An error before the next reader adds its own listeners must not be uncaught.
      body.on('error', ignore)
    }
    const finish = (ended: boolean) => {
      stopReading()
      try {
        refuse(answer)
      } catch (failure) {
        reject(failure)
        return
      }
      resolve(describeStream(answer, parts, ended))
    }
    const take = (read: () => Buffer | undefined): boolean => {
      try {
        const out = read()
        if (out && out.length > 0) parts.push(out)
        return true
      } catch (cause) {
        if (cause instanceof PackedStream) {
          stopReading()
          body.pause()
          // At once: a stream that was read to its end emits it in the next tick.
          body.unshift(cause.start)
          reject(cause)
          return false
        }
        onError(unreadable(cause))
        body.destroy()
        return false
      }
    }
    const onData = (chunk: Buffer) => {
      if (!take(() => reader.push(chunk))) return
      if (parts.length === 0 && !relay.report().error) return
      body.pause()
      finish(false)
    }
    const onEnd = () => {
      if (take(() => reader.end())) finish(true)
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

function describeStream(answer: UpstreamAnswer, parts: Buffer[], ended: boolean): StreamAnswer {
  const { status, headers, body, relay, heartbeat } = answer
  return {
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
    stopsOnCancel: answer.stopsOnCancel ?? false,
    cutsWhenBroken: answer.cutsWhenBroken ?? false,
    heartbeat,
  }
}

/** Returns the adapter's own failure, or else one of unknown outcome. */
function brokenOff(cause: unknown, message: string): UpstreamFailure {
  return cause instanceof UpstreamFailure
    ? cause
    : new UpstreamFailure('unknown', { cause, message })
}

const TIMER_STEP_MS = 100

/** Rounds a wait up to 100 ms: Node keeps one list per duration, which costs more than a timer. */
function toTimerMs(withinMs: number): number {
  return Math.max(0, Math.ceil(withinMs / TIMER_STEP_MS) * TIMER_STEP_MS)
}

function ignore(): void {}
