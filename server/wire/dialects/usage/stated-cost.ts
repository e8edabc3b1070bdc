/** Reads the cost of an answer, if the vendor states one. */
import { isObject, member } from '../../../base/lib/json.ts'
import { divideUp } from '../../../base/lib/money.ts'
import type { StatedCost } from '../relay.ts'
import { readCount } from './read-count.ts'

const NANO_DIGITS = 9n
/** xAI counts in ten thousand millionths of a dollar: ten ticks are one nano. */
const TICKS_PER_NANO = 10n
const DECIMAL = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/

/**
 * Reads the forms of `usage` that state a cost, all in US dollars: `cost_in_usd_ticks` (xAI), a
 * number `cost` (OpenRouter), `gateway_cost` (Vercel, whose `cost` leaves its surcharges out),
 * `cost.total_cost` (Perplexity). Undefined when none is stated, or not as a number from 0 on.
 */
export function readStatedCost(usage: unknown): StatedCost | undefined {
  const ticks = readCount(member(usage, 'cost_in_usd_ticks'))
  if (ticks !== undefined) return toCost(divideUp(BigInt(ticks), TICKS_PER_NANO))
  const cost = member(usage, 'cost')
  if (isObject(cost)) return toCost(toNanos(cost.total_cost))
  return toCost(toNanos(member(usage, 'gateway_cost')) ?? readRouterCost(usage, cost))
}

/**
 * With the operator's own key at the vendor, `cost` is only the router's fee on top of that
 * vendor's bill.
 */
function readRouterCost(usage: unknown, cost: unknown): bigint | undefined {
  const fee = toNanos(cost)
  if (member(usage, 'is_byok') !== true) return fee
  const bill = toNanos(member(member(usage, 'cost_details'), 'upstream_inference_cost'))
  return fee === undefined || bill === undefined ? undefined : fee + bill
}

function toCost(nanos: bigint | undefined): StatedCost | undefined {
  const isBelievable = nanos !== undefined && nanos <= BigInt(Number.MAX_SAFE_INTEGER)
  return isBelievable ? { nanos, currency: 'USD' } : undefined
}

/**
 * Converts a JSON number to billionths, rounded up. Exact: the number's shortest decimal text is
 * what the vendor wrote, and no floating-point arithmetic takes place.
 */
function toNanos(value: unknown): bigint | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined
  const match = DECIMAL.exec(String(value))
  if (!match) return undefined
  const [, whole = '0', fraction = '', exponent = '0'] = match
  const digits = BigInt(whole + fraction)
  const shift = NANO_DIGITS + BigInt(exponent) - BigInt(fraction.length)
  return shift >= 0n ? digits * 10n ** shift : divideUp(digits, 10n ** -shift)
}

/** Returns the stated cost in nanos; 0 if none is stated. */
export function totalCost(usage: unknown): number {
  return Number(readStatedCost(usage)?.nanos ?? 0n)
}
