/**
 * The last response of a connection with the input that led to it, so that the next request can
 * name it: it is sent again as input, since neither a translated model nor `store: false` keeps it.
 */
import { isObject, type JsonObject, member, writeJson } from '../../../../base/lib/json.ts'
import type { Portion } from '../../../../base/lib/memory/budget.ts'
import type { Memory } from '../../../../base/lib/memory/memory.ts'
import { STEPPED_BYTES } from '../../../../wire/dialects/request-json/parse.ts'

export interface RememberedTurn {
  readonly id: string
  /** Input and output items, as the next request repeats them. */
  readonly items: readonly unknown[]
}

/** Bytes that one connection may hold. */
const TURN_BYTES_MAX = 8 * 1024 * 1024
/** Parsed items take about as much memory again as their text. */
const TURN_FACTOR = 2

/** The turns of each account, the oldest first. */
const kept = new Map<string, Set<TurnMemory>>()

/** Holds the turn of one connection within the limits. */
export class TurnMemory {
  private readonly accountId: string
  private readonly portion: Portion
  private turn: RememberedTurn | undefined

  constructor(accountId: string, { bytes }: Pick<Memory, 'bytes'>) {
    this.accountId = accountId
    this.portion = bytes.portion(accountId, 'turn')
  }

  find(id: string): RememberedTurn | undefined {
    return this.turn?.id === id ? this.turn : undefined
  }

  /**
   * Forgets the previous turn, and the oldest ones of the account if its share is used up. A turn
   * that does not fit is not kept: its id is then unknown. Items of a long message are copied,
   * since a single string would keep megabytes of that message in memory that nothing counts.
   */
  keep({ id, items }: RememberedTurn, messageBytes: number): void {
    this.forget()
    const text = writeJson(items)
    const bytes = Buffer.byteLength(text)
    if (bytes > TURN_BYTES_MAX || !this.makeRoom(bytes * TURN_FACTOR)) return
    this.turn = { id, items: messageBytes > STEPPED_BYTES ? JSON.parse(text) : items }
    const turns = kept.get(this.accountId) ?? new Set()
    kept.set(this.accountId, turns.add(this))
  }

  forget(): void {
    this.portion.release()
    this.turn = undefined
    const turns = kept.get(this.accountId)
    if (turns?.delete(this) && turns.size === 0) kept.delete(this.accountId)
  }

  private makeRoom(bytes: number): boolean {
    while (!this.portion.grow(bytes)) {
      const [oldest] = kept.get(this.accountId) ?? []
      if (!oldest) return false
      oldest.forget()
    }
    return true
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
  // If the vendor stores nothing, it recognises reasoning only by its content.
  return items.filter((item) => item.type !== 'reasoning' || member(item, 'encrypted_content'))
}
