/** Adds decimal strings without a float. */

const PLACES = 9
const UNIT = 10n ** BigInt(PLACES)

export function addUp(added: readonly string[], subtracted: readonly string[] = []): string {
  const sum = (texts: readonly string[]) => texts.reduce((all, text) => all + toNanos(text), 0n)
  const nanos = sum(added) - sum(subtracted)
  const size = nanos < 0n ? -nanos : nanos
  const fraction = String(size % UNIT).padStart(PLACES, '0')
  return `${nanos < 0n ? '-' : ''}${size / UNIT}.${fraction}`
}

function toNanos(text: string): bigint {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.')
  const nanos = BigInt(whole) * UNIT + BigInt(fraction.padEnd(PLACES, '0'))
  return text.startsWith('-') ? -nanos : nanos
}
