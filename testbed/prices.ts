/**
 * Calculates a call's charge from the catalog file and the simulators' units: a second calculation
 * that shares no code with the gateway's.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface ListedPrice {
  readonly unit: string
  readonly per: number
  readonly amount: string
  readonly when?: Conditions
}

type Conditions = Readonly<Record<string, unknown>>

interface ListedModel {
  readonly id: string
  readonly prices: readonly ListedPrice[]
}

const CATALOG = join(import.meta.dirname, '..', 'catalog', 'simulators.json')
const { models } = JSON.parse(readFileSync(CATALOG, 'utf8')) as { models: readonly ListedModel[] }

/**
 * Returns nano-units. Each unit is rounded up separately; a unit without a price is free. Of a
 * unit's prices the first whose conditions hold applies.
 */
export function priceOf(
  model: string,
  units: Readonly<Record<string, number>>,
  conditions: Conditions = {},
): bigint {
  const listed = models.find(({ id }) => id === model)
  if (!listed) throw new Error(`no model ${model} in the catalog`)
  let total = 0n
  const applied = new Set<string>()
  for (const { unit, per, amount, when = {} } of listed.prices) {
    const holds = Object.entries(when).every(([name, value]) => conditions[name] === value)
    if (!holds || applied.has(unit)) continue
    applied.add(unit)
    const quantity = BigInt(units[unit] ?? 0)
    const exact = quantity * toNanos(amount)
    total += (exact + BigInt(per) - 1n) / BigInt(per)
  }
  return total
}

/**
 * Returns the maximum of an estimate, where the vendor stated no usage: a tenth above
 * the bill, and input as the gateway estimates it, a token for four bytes of the body. The
 * simulators bill the text alone, without the JSON around it and the instructions to them.
 */
export function highestEstimate(
  { model, body }: { readonly model: string; readonly body: object },
  bookedNanos: bigint,
): bigint {
  const inputTokens = Math.ceil(Buffer.byteLength(JSON.stringify(body)) / 4)
  return (bookedNanos * 11n) / 10n + priceOf(model, { input_token: inputTokens })
}

function toNanos(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(9, '0').slice(0, 9))
}
