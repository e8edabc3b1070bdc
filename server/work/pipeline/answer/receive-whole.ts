/**
 * Receives a whole answer from an upstream. Large answers are collected on disk at the upstream's
 * speed, and are in memory only while there is room for them: if a vendor sends too much to many
 * calls at once, these calls fail rather than the process.
 */
import type { Readable } from 'node:stream'
import { accountOf, type Context, takePortion } from '../../../base/http/context.ts'
import type { Portion } from '../../../base/lib/memory/budget.ts'
import { Gathering } from '../../../base/lib/memory/gathering.ts'
import { type Memory, PARSED_FACTOR } from '../../../base/lib/memory/memory.ts'
import { SHARED_BYTES } from '../../../base/lib/queues/loop-share.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import { hasArrived } from '../../../wire/upstreams/wire.ts'
import type { Services } from '../services.ts'

type NeededForRoom = Pick<Services, 'limits' | 'memory'>

/** The limits of one answer, and the functions that count it. */
export interface AnswerRoom {
  readonly bytesMax: number
  readonly memory: Memory
  /** The id of the account that gets it. */
  readonly account: string
  /** Returns a portion of kind `whole`, which the maker of the room releases. */
  readonly takePortion: () => Portion
}

/** The answer is larger than the limit. */
export class AnswerTooLarge extends UpstreamFailure {}

/** Returns the room of an answer, which is counted until its call has ended. */
export function roomOf(context: Context, { limits, memory }: NeededForRoom): AnswerRoom {
  return {
    bytesMax: limits.answerBytesMax,
    memory,
    account: accountOf(context),
    takePortion: () => takePortion(context, 'whole'),
  }
}

/** Returns a room whose portions are released together. */
export function openRoom(
  { limits, memory }: NeededForRoom,
  account: string,
): AnswerRoom & { release(): void } {
  const portions: Portion[] = []
  return {
    bytesMax: limits.answerBytesMax,
    memory,
    account,
    takePortion() {
      const portion = memory.bytes.portion(account, 'whole')
      portions.push(portion)
      return portion
    },
    release() {
      for (const portion of portions.splice(0)) portion.end()
    },
  }
}

/** Not counted: the client's own buffer for it is as large. */
const SMALL_BYTES = SHARED_BYTES
/** A longer one arrives on disk. */
const ARRIVING_BYTES_MAX = 1024 * 1024
/** The longest time that a complete answer waits for its share of memory. */
export const ROOM_WAIT_MS = 20_000
export const TOO_MUCH = 'the answers to this account that are read here are too large together'
const BROKEN = 'the answer broke off'

/**
 * Returns the chunks of the body. Rejects with the adapter's own failure, or an UpstreamFailure of
 * kind `unknown` if the body breaks off, is larger than the limit, is not complete within
 * `withinMs`, or has no room.
 */
export function receiveWhole(
  body: Readable,
  room: AnswerRoom,
  withinMs?: number,
): Promise<readonly Buffer[]> {
  if (body.destroyed) return Promise.reject(brokenOff(body.errored, BROKEN))
  if (hasArrived(body) && body.readableLength <= Math.min(room.bytesMax, SMALL_BYTES)) {
    // A small answer arrives together with its head, so it needs no listeners.
    return Promise.resolve(readArrived(body))
  }
  return new Promise((resolve, reject) => {
    new Receiver(body, room, withinMs, { resolve, reject }).start()
  })
}

/** Node returns one chunk with each read, however many there are. */
function readArrived(body: Readable): readonly Buffer[] {
  const chunks: Buffer[] = []
  for (;;) {
    const chunk: Buffer | null = body.read()
    if (!chunk) return chunks
    chunks.push(chunk)
  }
}

interface Settle {
  readonly resolve: (chunks: readonly Buffer[]) => void
  readonly reject: (failure: UpstreamFailure) => void
}

/** Reads a body by its events, since iterating it would allocate promises for each chunk. */
class Receiver {
  private readonly body: Readable
  private readonly room: AnswerRoom
  private readonly withinMs: number | undefined
  private readonly settle: Settle
  private readonly chunks: Buffer[] = []
  private gathering: Gathering | undefined
  private timer: NodeJS.Timeout | undefined
  private bytes = 0
  private isOver = false

  constructor(body: Readable, room: AnswerRoom, withinMs: number | undefined, settle: Settle) {
    this.body = body
    this.room = room
    this.withinMs = withinMs
    this.settle = settle
  }

  start(): void {
    const { body, withinMs } = this
    if (withinMs !== undefined) {
      const late = () => this.fail(undefined, 'no whole answer in time')
      this.timer = setTimeout(late, toTimerMs(withinMs))
    }
    body.on('data', (chunk: Buffer) => this.onData(chunk))
    body.on('end', () => this.onEnd())
    body.on('error', (cause) => this.fail(cause, BROKEN))
    body.on('close', () => {
      if (!body.readableEnded) this.fail(undefined, BROKEN)
    })
  }

  private onData(chunk: Buffer): void {
    const { bytesMax } = this.room
    this.bytes += chunk.length
    if (this.bytes > bytesMax) {
      const message = `the answer exceeds ${bytesMax} bytes`
      this.fail(new AnswerTooLarge('unknown', { message }), message)
    }
    if (this.isOver) return
    if (!this.gathering && this.bytes <= SMALL_BYTES) {
      this.chunks.push(chunk)
      return
    }
    this.gathering ??= this.gather()
    const { account, memory } = this.room
    const isRoom = this.gathering.push(chunk)
    const isTime = memory.loop.count(account, chunk.length)
    if (isRoom && isTime) return
    this.body.pause()
    const waits = [this.gathering.kept(), ...(isTime ? [] : [memory.loop.turn(account)])]
    const onError = (cause: unknown) => this.fail(cause, TOO_MUCH)
    Promise.all(waits).then(() => this.body.resume(), onError)
  }

  private gather(): Gathering {
    const { memory, account } = this.room
    const bytesMax = ARRIVING_BYTES_MAX
    const gathering = new Gathering({ memory, account, kind: 'answer', bytesMax })
    for (const chunk of this.chunks.splice(0)) gathering.push(chunk)
    return gathering
  }

  private onEnd(): void {
    if (this.isOver) return
    if (this.gathering) {
      this.load(this.gathering).catch((cause: unknown) => this.fail(cause, TOO_MUCH))
      return
    }
    this.finish()
    this.settle.resolve(this.chunks)
  }

  private async load(gathering: Gathering): Promise<void> {
    const portion = this.room.takePortion()
    const amount = this.bytes * PARSED_FACTOR
    await gathering.kept()
    if (!(await portion.growSoon(amount, ROOM_WAIT_MS))) throw portion.refuse(amount, TOO_MUCH)
    portion.noteInHeap(this.bytes)
    const whole = await gathering.load()
    // It is parsed immediately afterwards.
    await this.room.memory.loop.turn(this.room.account)
    if (this.isOver) return
    this.finish()
    this.settle.resolve([whole])
  }

  private finish(): void {
    this.isOver = true
    clearTimeout(this.timer)
    this.gathering?.close()
  }

  private fail(cause: unknown, message: string): void {
    if (this.isOver) return
    this.finish()
    this.body.on('error', ignore)
    this.body.destroy()
    this.settle.reject(brokenOff(cause, message))
  }
}

/** Returns the adapter's own failure, or else one of unknown outcome. */
export function brokenOff(cause: unknown, message: string): UpstreamFailure {
  return cause instanceof UpstreamFailure
    ? cause
    : new UpstreamFailure('unknown', { cause, message })
}

const TIMER_STEP_MS = 100

/** Rounds a wait up to 100 ms: Node keeps one list per duration, which costs more than a timer. */
export function toTimerMs(withinMs: number): number {
  return Math.max(0, Math.ceil(withinMs / TIMER_STEP_MS) * TIMER_STEP_MS)
}

function ignore(): void {}
