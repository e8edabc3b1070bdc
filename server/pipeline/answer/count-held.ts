/**
 * Counts what the relay of a stream holds in the memory of its account: the start of an event that
 * has not ended, or an answer that is translated once it is whole. Vendors send large ones too.
 */
import type { Relay } from '../../dialects/relay.ts'
import type { Portion } from '../../lib/memory/budget.ts'
import { type AnswerRoom, TOO_MUCH } from './receive-whole.ts'

/** Bytes after which the count is read; a relay that holds fewer is not counted. */
const STEP_BYTES = 256 * 1024

export class HeldBytes {
  private readonly relay: Pick<Relay, 'heldBytes'>
  private readonly room: Pick<AnswerRoom, 'takePortion'>
  private portion: Portion | undefined
  private uncounted = 0

  /** The portion is released with the others of the room. */
  constructor(relay: Pick<Relay, 'heldBytes'>, room: Pick<AnswerRoom, 'takePortion'>) {
    this.relay = relay
    this.room = room
  }

  /** To be called behind each chunk. Throws GatewayError 429 or 503 if too much is held. */
  add(bytes: number): void {
    this.uncounted += bytes
    if (this.uncounted >= STEP_BYTES) this.count()
  }

  private count(): void {
    this.uncounted = 0
    const held = this.relay.heldBytes?.() ?? 0
    const counted = held < STEP_BYTES ? 0 : held
    if (!this.portion && counted === 0) return
    this.portion ??= this.room.takePortion()
    const more = counted - this.portion.amount
    if (more <= 0) this.portion.shrink(-more)
    else if (!this.portion.grow(more)) throw this.portion.refuse(more, TOO_MUCH)
  }
}
