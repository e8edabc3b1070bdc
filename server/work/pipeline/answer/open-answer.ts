/**
 * Opens an answer before any of it is sent to the caller: a whole answer is read completely, a
 * stream up to its first bytes. Until then a failure can still lead to another attempt.
 */
import type { Readable } from 'node:stream'
import { tryParseJson } from '../../../base/lib/json.ts'
import { SHARED_BYTES } from '../../../base/lib/queues/loop-share.ts'
import { OUTPUT_UNITS, TOOL_FEE_UNITS, type Unit } from '../../../base/lib/units.ts'
import { beginsDocument } from '../../../wire/dialects/begins-document.ts'
import type { Relay, RelayReport } from '../../../wire/dialects/relay.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { UpstreamAnswer } from '../../../wire/upstreams/upstream.ts'
import { HeldBytes, TURN_MS } from './count-held.ts'
import { type AnswerRoom, brokenOff, receiveWhole, toTimerMs } from './receive-whole.ts'
import { type RelayedEvents, relayEnd, relayEvents } from './relay-events.ts'
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
  readonly takeFirst: () => RelayedEvents
  /** Paused. */
  readonly body: Readable
  readonly relay: Relay
  /** Counts what it costs the account. */
  readonly held: Pick<HeldBytes, 'add' | 'setLeaving' | 'turn'>
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
  room: AnswerRoom,
  withinMs?: number,
): Promise<OpenedAnswer> {
  return answer.stream ? openUnpacked(answer, room, withinMs) : openWhole(answer, room, withinMs)
}

async function openUnpacked(
  answer: UpstreamAnswer,
  room: AnswerRoom,
  withinMs: number | undefined,
): Promise<StreamAnswer> {
  const held = new HeldBytes(answer.relay, room)
  const report = () => answer.relay.report()
  try {
    return await openStream(answer, { ...detectIn(answer), report, held }, withinMs)
  } catch (cause) {
    if (!(cause instanceof PackedStream)) throw cause
    const unpacked = { ...answer, body: unpackStream(answer.body, cause) }
    return await openStream(unpacked, { ...detectIn(unpacked, true), report, held }, withinMs)
  }
}

/**
 * Throws the refusal in an answer without output; if the vendor may bill it, no other route is
 * tried. Stated work is billed, even if not visible. `received` is the whole answer, if it is one.
 */
function refuse(answer: UpstreamAnswer, received?: readonly Buffer[]): void {
  const report = answer.relay.report()
  if (!report.error || report.outputBytes > 0 || statesWork(report)) return
  const failure = answer.refusal?.(report)
  if (!failure) return
  answer.body.destroy()
  if (report.mayBeBilled)
    throw new UpstreamFailure('unknown', { ...failure.details, cause: failure })
  throw received && isCutOff(received) ? unreadable(failure) : failure
}

/**
 * Returns true for a document that has no end: without a length, the end of the connection looks
 * like that of the answer. Its vendor did not refuse, and may have done the work.
 */
function isCutOff(received: readonly Buffer[]): boolean {
  const body = Buffer.concat(received)
  if (beginsDocument(body) !== true) return false
  return !ENDINGS.includes(body.at(-1) ?? 0) || tryParseJson(body) === undefined
}

/** The last bytes that a document may have: a cut inside of a long text is seen without parsing. */
const ENDINGS = Buffer.from('} \t\r\n')

/** Units that are counted only for work that was done, as opposed to the request's own. */
const WORK_UNITS: readonly Unit[] = [...OUTPUT_UNITS, 'image', ...TOOL_FEE_UNITS]

function statesWork({ usage = {}, passes = [], statedCost }: RelayReport): boolean {
  const hasCost = statedCost !== undefined && statedCost.nanos > 0n
  return hasCost || passes.length > 0 || WORK_UNITS.some((unit) => (usage[unit] ?? 0) > 0)
}

async function openWhole(
  answer: UpstreamAnswer,
  room: AnswerRoom,
  withinMs: number | undefined,
): Promise<WholeAnswer> {
  const received = await receiveWhole(answer.body, room, withinMs)
  let chunks: readonly Buffer[]
  try {
    const unpacked = unpackWhole(received, room, answer)
    chunks = unpacked instanceof Promise ? await unpacked : unpacked
  } catch (cause) {
    throw unreadable(cause)
  }
  const body = await readInTurns(answer, chunks, room)
  refuse(answer, chunks)
  const { status, headers, relay } = answer
  return { kind: 'whole', status, headers, body, report: relay.report() }
}

/**
 * Resolves with what the caller gets of the answer. Events are read in pieces, between which other
 * work runs: millions of them may arrive.
 */
async function readInTurns(
  { relay }: UpstreamAnswer,
  chunks: readonly Buffer[],
  { account, memory }: AnswerRoom,
): Promise<Buffer> {
  const parts: Buffer[] = []
  let isUnchanged = true
  try {
    let startedAt = performance.now()
    for (const piece of chunks.flatMap(divide)) {
      const part = relay.push(piece)
      isUnchanged &&= part === piece
      if (part) parts.push(part)
      if (performance.now() - startedAt < TURN_MS) continue
      await memory.loop.turn(account)
      startedAt = performance.now()
    }
    const last = relay.end()
    if (last) parts.push(last)
    const [whole, ...others] = last ? parts : chunks
    if (whole && others.length === 0 && (last || isUnchanged)) return whole
    return Buffer.concat(parts)
  } catch (cause) {
    throw unreadable(cause)
  }
}

/** Divides a long chunk. A document is read at its end, so it stays whole. */
function divide(chunk: Buffer): Buffer | readonly Buffer[] {
  if (chunk.length <= SHARED_BYTES || beginsDocument(chunk) === true) return chunk
  const count = Math.ceil(chunk.length / SHARED_BYTES)
  return Array.from({ length: count }, (_, index) => {
    return chunk.subarray(index * SHARED_BYTES, (index + 1) * SHARED_BYTES)
  })
}

/** The failure of an answer that cannot be read: JSON that is cut off or nested too deeply. */
function unreadable(cause: unknown): UpstreamFailure {
  return new UpstreamFailure('unknown', { cause, message: 'the answer cannot be read' })
}

/** The answer's relay behind a detector, and the count of what it holds. */
type Reader = Pick<Relay, 'push' | 'end' | 'report'> & Pick<StreamAnswer, 'held'>

/** Reads the start of a stream. */
function openStream(
  answer: UpstreamAnswer,
  reader: Reader,
  withinMs: number | undefined,
): Promise<StreamAnswer> {
  const { body, relay, headWithinMs } = answer
  if (body.destroyed) return Promise.reject(brokenOff(body.errored, 'the stream broke off'))
  return new Promise((resolve, reject) => {
    let first: RelayedEvents = {}
    let stopTimers: () => void = ignore
    let isReading = true
    const stopReading = () => {
      isReading = false
      stopTimers()
      body.off('data', onData).off('end', onEnd).off('error', onError).off('close', onError)
      // An error before the next reader adds its own listeners must not be uncaught.
      body.on('error', ignore)
    }
    const finish = (ended: boolean) => {
      stopReading()
      if (!ended) body.pause()
      try {
        refuse(answer)
        resolve(describeStream(answer, first, { ended, reader }))
        first = {}
      } catch (failure) {
        reject(failure)
      }
    }
    const take = (read: RelayedEvents): boolean => {
      first = read
      if (!read.failure) return true
      const { cause, unread } = read.failure
      if (cause instanceof PackedStream) {
        stopReading()
        putBack(body, [cause.start, unread])
        reject(cause)
        return false
      }
      onError(unreadable(cause))
      body.destroy()
      return false
    }
    const onData = (chunk: Buffer) => {
      const isTaken = take(readCounted(reader, chunk, waitForTurn))
      if (isTaken && (first.words || first.end || relay.report().error)) finish(false)
    }
    const waitForTurn = () => {
      body.pause()
      reader.held.turn().then(() => isReading && body.resume())
    }
    const onEnd = () => {
      if (take(relayEnd(reader))) finish(true)
    }
    const onError = (cause: unknown) => {
      stopTimers()
      reject(brokenOff(cause, 'the stream broke off'))
    }
    const onLate = () => {
      onError(new UpstreamFailure('unknown', { message: 'no first event in time' }))
      body.destroy()
    }
    stopTimers = startTimers({ withinMs, headWithinMs }, onLate, () => finish(false))
    body.on('data', onData).on('end', onEnd).on('error', onError).on('close', onError)
  })
}

/** Calls `onOverdue` if the next chunk should wait for the account's turn. */
function readCounted(reader: Reader, chunk: Buffer, onOverdue: () => void): RelayedEvents {
  const startedAt = performance.now()
  const read = relayEvents(reader, chunk)
  try {
    if (!reader.held.add(chunk.length, performance.now() - startedAt)) onOverdue()
    return read
  } catch (cause) {
    return { failure: { cause, unread: NO_BYTES } }
  }
}

/** Must be called at once: a stream that was read to its end emits it in the next tick. */
function putBack(body: Readable, parts: readonly Buffer[]): void {
  body.pause()
  const bytes = Buffer.concat(parts)
  if (bytes.length > 0) body.unshift(bytes)
}

interface OpeningTimes {
  readonly withinMs: number | undefined
  readonly headWithinMs: number | undefined
}

/** Calls each function after its time. Returns a function that stops both timers. */
function startTimers(
  { withinMs, headWithinMs }: OpeningTimes,
  onLate: () => void,
  sendHead: () => void,
): () => void {
  let isOpening = true
  const late = withinMs === undefined ? undefined : setTimeout(onLate, toTimerMs(withinMs))
  const sendIfOpening = () => {
    if (isOpening) sendHead()
  }
  // Bytes that arrived while this process was busy are read first.
  const onHead = () => setImmediate(sendIfOpening)
  const head = headWithinMs === undefined ? undefined : setTimeout(onHead, headWithinMs)
  return () => {
    isOpening = false
    clearTimeout(late)
    clearTimeout(head)
  }
}

function describeStream(
  answer: UpstreamAnswer,
  first: RelayedEvents,
  { ended, reader }: { readonly ended: boolean; readonly reader: Reader },
): StreamAnswer {
  const { status, headers, body, heartbeat } = answer
  let kept = first
  // Where the head did not wait for the first bytes, the detector has yet to see them.
  const isUnseen = !first.words && !first.end && !ended
  const relay = isUnseen ? behind(reader, answer.relay) : answer.relay
  return {
    kind: 'stream',
    status,
    headers,
    takeFirst() {
      const taken = kept
      kept = {}
      return taken
    },
    body,
    relay,
    held: reader.held,
    ended,
    stopsOnCancel: answer.stopsOnCancel ?? false,
    cutsWhenBroken: answer.cutsWhenBroken ?? false,
    heartbeat,
  }
}

function behind({ push, end }: Pick<Relay, 'push' | 'end'>, relay: Relay): Relay {
  return {
    push,
    end,
    fail: (failure) => relay.fail(failure),
    report: () => relay.report(),
    heldBytes: () => relay.heldBytes?.() ?? 0,
  }
}

const NO_BYTES: Buffer = Buffer.alloc(0)

function ignore(): void {}
