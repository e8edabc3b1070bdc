/** What a message says it cost, in units that do not overlap; so does the format itself. */
import { isObject } from '../../lib/json.ts'
import type { Quantities } from '../../lib/units.ts'

/** Keeps the last word on each count: later ones are totals, not further amounts. */
export interface MessagesUsageReader {
  /** Reads a `usage` object. A count that is absent or null keeps what was said before. */
  readonly read: (usage: unknown) => void
  /** Undefined until a usage said anything. */
  readonly quantities: () => Quantities | undefined
}

const UNITS = [
  ['input_tokens', 'input_token'],
  ['cache_read_input_tokens', 'cached_input_token'],
  ['cache_creation_input_tokens', 'cache_write_token'],
  ['output_tokens', 'output_token'],
] as const

export function createMessagesUsageReader(): MessagesUsageReader {
  const counts: { -readonly [Unit in keyof Quantities]: Quantities[Unit] } = {}
  let hasRead = false

  return {
    read(usage) {
      if (!isObject(usage)) return
      for (const [field, unit] of UNITS) {
        const count = usage[field]
        if (count === undefined || count === null) continue
        hasRead = true
        // A cache that was not used is not worth a line in the books.
        if (count === 0 && counts[unit] === undefined && field.startsWith('cache')) continue
        counts[unit] = typeof count === 'number' ? count : Number.NaN
      }
    },
    quantities: () => (hasRead ? { ...counts } : undefined),
  }
}

/** The usage of a whole message. */
export function readMessagesUsage(usage: unknown): Quantities | undefined {
  const reader = createMessagesUsageReader()
  reader.read(usage)
  return reader.quantities()
}
