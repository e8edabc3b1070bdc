/** A usage record with figures derived from its lines and attempts, for lists and exports. */
import { z } from 'zod'
import { CACHED_UNITS, INPUT_UNITS, OUTPUT_UNITS } from '../../../../base/lib/units.ts'
import type { UsageSummary } from '../../../../money/usage/store.ts'
import { usageRecord } from '../../../endpoints/account/usage-schemas.ts'
import { readEach, type SchemaRow } from '../../../endpoints/codecs.ts'
import type { KeyName } from '../account-store.ts'

export const describedCall = usageRecord.extend({
  key_name: z.string().describe('The key’s name, else its first and last characters.'),
  member: z.string().describe('The person who created the key in the console; empty if unknown.'),
  input_tokens: z.number().describe('Billed input tokens of every kind, cached ones included.'),
  cached_input_tokens: z.number(),
  output_tokens: z.number().describe('Billed output tokens of every kind.'),
  quantities: z.record(z.string(), z.number()).describe('The billed quantity of each unit.'),
  duration_ms: z.int().nullable(),
  first_response_ms: z
    .int()
    .nullable()
    .describe('Until the upstream began to answer, earlier attempts included.'),
  output_tokens_per_second: z
    .number()
    .nullable()
    .describe('Output tokens per second from the beginning of the answer to its end.'),
})

const CACHED: ReadonlySet<string> = new Set(CACHED_UNITS)
const INPUT: ReadonlySet<string> = new Set(INPUT_UNITS)
const OUTPUT: ReadonlySet<string> = new Set(OUTPUT_UNITS)

const line = z.object({ unit: z.string(), quantity: z.number() })
const attempt = z.object({ milliseconds: z.number() })

export function describeCall(
  row: UsageSummary,
  keys: ReadonlyMap<string, KeyName>,
): SchemaRow<typeof describedCall> {
  const quantities: Record<string, number> = {}
  for (const { unit, quantity } of readEach(line, row.lines)) {
    quantities[unit] = (quantities[unit] ?? 0) + quantity
  }
  const sum = (units: ReadonlySet<string>) =>
    Object.entries(quantities).reduce((all, [unit, one]) => all + (units.has(unit) ? one : 0), 0)
  const key = keys.get(row.key_id)
  const outputTokens = sum(OUTPUT)
  return {
    ...row,
    key_name: key?.name || key?.display || '',
    member: key?.member ?? '',
    input_tokens: sum(INPUT),
    cached_input_tokens: sum(CACHED),
    output_tokens: outputTokens,
    quantities,
    ...describePace(row, outputTokens),
  }
}

function describePace(row: UsageSummary, outputTokens: number) {
  const waits = readEach(attempt, row.attempts).map(({ milliseconds }) => milliseconds)
  const firstMs = waits.length > 0 ? waits.reduce((all, one) => all + one, 0) : null
  const durationMs = row.finished_at ? row.finished_at.getTime() - row.created_at.getTime() : null
  const answeringMs = durationMs !== null && firstMs !== null ? durationMs - firstMs : 0
  const isPaced = outputTokens > 0 && answeringMs > 0
  return {
    duration_ms: durationMs,
    first_response_ms: firstMs === null ? null : Math.round(firstMs),
    output_tokens_per_second: isPaced
      ? Math.round((outputTokens / answeringMs) * 10_000) / 10
      : null,
  }
}
