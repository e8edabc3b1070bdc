/** Exact arithmetic with decimal strings, in integer nano-units like the gateway's own. */

import { SUM_PLACES } from './format.ts'

const PLACES = 9
const UNIT = 10n ** BigInt(PLACES)

function toNanos(text: string): bigint {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.')
  const nanos = BigInt(whole) * UNIT + BigInt(fraction.padEnd(PLACES, '0').slice(0, PLACES))
  return text.startsWith('-') ? -nanos : nanos
}

function fromNanos(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos
  const fraction = String(size % UNIT).padStart(PLACES, '0')
  return `${nanos < 0n ? '-' : ''}${size / UNIT}.${fraction}`
}

export function addUp(added: readonly string[], subtracted: readonly string[] = []): string {
  const sum = (texts: readonly string[]) => texts.reduce((all, text) => all + toNanos(text), 0n)
  return fromNanos(sum(added) - sum(subtracted))
}

/**
 * Returns the fewest decimal places with which the rounded amounts add up: 0.034 less 0.018 is
 * 0.016, and would be 0.02 beside 0.03 and 0.02. Amounts that do not add up at all have the usual
 * ones.
 */
export function placesToAddUp(
  sum: string,
  added: readonly string[],
  subtracted: readonly string[] = [],
): number {
  const addsUp = (places: number) => {
    const roundAll = (texts: readonly string[]) => texts.map((text) => round(text, places))
    return addUp(roundAll(added), roundAll(subtracted)) === addUp(roundAll([sum]))
  }
  for (let places = SUM_PLACES; places <= PLACES; places += 1) if (addsUp(places)) return places
  return SUM_PLACES
}

/** Rounds as Intl does: a half away from zero. */
function round(text: string, places: number): string {
  const nanos = toNanos(text)
  const step = 10n ** BigInt(PLACES - places)
  const half = nanos < 0n ? -step / 2n : step / 2n
  return fromNanos(((nanos + half) / step) * step)
}

/** Returns the charge of a quantity, rounded up once, as the gateway rounds a charge line. */
export function chargeOf(amount: string, per: number, quantity: number): string {
  const divisor = BigInt(per)
  const product = toNanos(amount) * BigInt(Math.max(0, Math.trunc(quantity)))
  return fromNanos((product + divisor - 1n) / divisor)
}

/**
 * Returns the text without spaces, and with the digits of a Chinese keyboard (`１２．５`) as plain
 * ones. A comma stays: it could be a decimal point or part of thousands, which the server refuses.
 */
export function plainNumber(text: string): string {
  return text.normalize('NFKC').replace(/\s/g, '')
}
