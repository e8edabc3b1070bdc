/**
 * Money is a whole number of nano-units (1e-9 of the account's currency) in a bigint, and a decimal
 * string in JSON. A JavaScript number never holds money.
 */
export type Nanos = bigint

/** The largest amount that the books can hold: PostgreSQL's bigint. */
export const NANOS_MAX: Nanos = 2n ** 63n - 1n

const NANOS_PER_UNIT = 1_000_000_000n
const FRACTION_DIGITS = 9
const DECIMAL = /^(-?)(\d{1,9})(?:\.(\d{1,9}))?$/

/** The refusal of a text that `parseAmount` does not read: a line of a form on a phone. */
export const AMOUNT_PROBLEM = 'must be a decimal such as 12.5, below 1000000000'

/**
 * Parses a decimal string such as "12.5" or "-0.000000001". Returns undefined if the text is not a
 * plain decimal with at most nine digits on either side of the point.
 */
export function parseAmount(text: string): Nanos | undefined {
  const match = DECIMAL.exec(text)
  if (!match) return undefined
  const [, sign, whole = '0', fraction = ''] = match
  const nanos = BigInt(whole) * NANOS_PER_UNIT + BigInt(fraction.padEnd(9, '0'))
  return sign ? -nanos : nanos
}

/** Formats nano-units as the shortest decimal string: 1500000000n becomes "1.5". */
export function formatAmount(nanos: Nanos): string {
  const magnitude = nanos < 0n ? -nanos : nanos
  const whole = magnitude / NANOS_PER_UNIT
  // Less than one unit, so exact and faster as a number.
  const rest = Number(magnitude - whole * NANOS_PER_UNIT)
  const text = rest === 0 ? whole.toString() : `${whole}.${formatFraction(rest)}`
  return nanos < 0n ? `-${text}` : text
}

/** Formats 1 to 999,999,999 nano-units as the digits after the point, without trailing zeros. */
function formatFraction(rest: number): string {
  let digits = rest
  let width = FRACTION_DIGITS
  while (digits % 10 === 0) {
    digits /= 10
    width -= 1
  }
  return digits.toString().padStart(width, '0')
}

/** Divides and rounds up: the only rounding of a charge line. Both arguments are positive. */
export function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}
