/**
 * Counts what a stream costs its account: the memory that its relay holds, such as the start of an
 * incomplete event, and the time to process large chunks. Vendors determine both.
 */

import type { Portion } from '../../../base/lib/memory/budget.ts'
import type { Relay } from '../../../wire/dialects/relay.ts'
import { type AnswerRoom, TOO_MUCH } from './receive-whole.ts'

/** Bytes after which the count is read; a relay that holds fewer is not counted. */
const STEP_BYTES = 256 * 1024
/**
 * The time for smaller chunks, which are processed faster, is not counted: counting would take as
 * long.
 */
const TIMED_BYTES = 16 * 1024
const TIMED_MS = 1
/** Time after which other work comes first: one turn of the event loop may bring many chunks. */
export const TURN_MS = 10

type Room = Omit<AnswerRoom, 'bytesMax'>

export class HeldBytes {
  private readonly relay: Pick<Relay, 'heldBytes'>
  private readonly room: Room
  private portion: Portion | undefined
  private uncounted = 0
  /** Bytes that wait to leave. */
  private leaving = 0
  /** The time of chunks that took long. */
  private spentMs = 0

  /** The portion is released with the others of the room. */
  constructor(relay: Pick<Relay, 'heldBytes'>, room: Room) {
    this.relay = relay
    this.room = room
  }

  /**
   * Must be called after each chunk, with the time that processing it took. Returns false if the
   * next chunk should wait for the account's turn. Throws GatewayError 429 or 503 if too much is
   * held.
   */
  add(bytes: number, tookMs: number): boolean {
    this.uncounted += bytes
    if (this.uncounted >= STEP_BYTES) this.count()
    if (bytes < TIMED_BYTES && tookMs < TIMED_MS) return true
    const { account, memory } = this.room
    const isTime = memory.loop.count(account, bytes, tookMs)
    if (tookMs >= TIMED_MS) this.spentMs += tookMs
    if (this.spentMs < TURN_MS) return isTime
    this.spentMs = 0
    return false
  }

  /** Counts the bytes that wait to leave. Throws as `add`. */
  setLeaving(bytes: number): void {
    this.leaving = bytes
    this.count()
  }

  /** Resolves when the next chunk may be read. */
  turn(): Promise<void> {
    const { account, memory } = this.room
    return memory.loop.turn(account)
  }

  private count(): void {
    this.uncounted = 0
    const held = (this.relay.heldBytes?.() ?? 0) + this.leaving
    const counted = held < STEP_BYTES ? 0 : held
    if (!this.portion && counted === 0) return
    this.portion ??= this.room.takePortion()
    const more = counted - this.portion.amount
    if (more <= 0) this.portion.shrink(-more)
    else if (!this.portion.grow(more)) throw this.portion.refuse(more, TOO_MUCH)
  }
}
