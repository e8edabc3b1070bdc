/** Reads the four counts of the messages format as units (docs/protocols/anthropic.md#usage). */
import type { JsonObject } from '../../../base/lib/json.ts'
import { member } from '../../../base/lib/json.ts'
import { readCount } from '../usage/read-count.ts'
import { type Tally, tally } from '../usage/usage-reading.ts'
import type { WriteLifetime } from '../usage/write-lifetime.ts'

/**
 * Returns the counts. Cache writes take the unit of the lifetime that the answer states; writes
 * without one take the only lifetime that it names, else the requested one.
 */
export function readCounts(usage: JsonObject, lifetime: WriteLifetime): Tally {
  const counts: Tally = {}
  const input = readCount(usage.input_tokens)
  const output = readCount(usage.output_tokens)
  if (input !== undefined) counts.input_token = input
  tally(counts, 'cached_input_token', readCount(usage.cache_read_input_tokens) ?? 0)
  tallyWrites(counts, usage, lifetime)
  if (output !== undefined) counts.output_token = output
  return counts
}

function tallyWrites(counts: Tally, usage: JsonObject, lifetime: WriteLifetime): void {
  const { cache_creation: split } = usage
  const hourTokens = readCount(member(split, 'ephemeral_1h_input_tokens')) ?? 0
  const minutesTokens = readCount(member(split, 'ephemeral_5m_input_tokens')) ?? 0
  const total = readCount(usage.cache_creation_input_tokens) ?? hourTokens + minutesTokens
  const hour = Math.min(hourTokens, total)
  const minutes = Math.min(minutesTokens, total - hour)
  tally(counts, 'cache_write_1h_token', hour)
  tally(counts, 'cache_write_5m_token', minutes)
  const isOnlyHour = hour > 0 && minutes === 0
  const isOnlyMinutes = minutes > 0 && hour === 0
  const known = isOnlyHour ? '1h' : isOnlyMinutes ? '5m' : lifetime
  tally(counts, `cache_write_${known}_token`, total - hour - minutes)
}
