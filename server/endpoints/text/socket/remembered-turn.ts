/**
 * The last response of a connection with the input that led to it, so that the next request can
 * name it: it is sent again as input, since neither a translated model nor `store: false` keeps it.
 */
import { isObject, type JsonObject, member } from '../../../lib/json.ts'

export interface RememberedTurn {
  readonly id: string
  /** Input and output items, as the next request repeats them. */
  readonly items: readonly unknown[]
}

/** Bytes that one connection may hold. */
const TURN_BYTES_MAX = 8 * 1024 * 1024
/** Bytes that all connections of this process may hold. */
const ALL_BYTES_MAX = 256 * 1024 * 1024

let allBytes = 0

/** Holds the turn of one connection within the limits. */
export class TurnMemory {
  private turn: RememberedTurn | undefined
  private bytes = 0

  find(id: string): RememberedTurn | undefined {
    return this.turn?.id === id ? this.turn : undefined
  }

  /** Forgets the turn before. A turn beyond a limit is not kept: its id is then unknown. */
  keep(turn: RememberedTurn): void {
    this.forget()
    const bytes = Buffer.byteLength(JSON.stringify(turn.items))
    if (bytes > TURN_BYTES_MAX || allBytes + bytes > ALL_BYTES_MAX) return
    this.turn = turn
    this.bytes = bytes
    allBytes += bytes
  }

  forget(): void {
    allBytes -= this.bytes
    this.bytes = 0
    this.turn = undefined
  }
}

/** Returns an `input` as a list of items. */
export function toItems(input: unknown): readonly unknown[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return Array.isArray(input) ? input : []
}

/** Returns the items of a response that a later request may repeat. */
export function repeatable(output: unknown): readonly JsonObject[] {
  const items = Array.isArray(output) ? output.filter(isObject) : []
  // A vendor knows reasoning by its content alone if it stores nothing.
  return items.filter((item) => item.type !== 'reasoning' || member(item, 'encrypted_content'))
}
