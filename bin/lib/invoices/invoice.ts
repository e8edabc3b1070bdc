/** The content of a vendor's export in any format: rows by day and model. */
import { isCurrency } from '../../../server/base/lib/currencies.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'

export interface InvoiceRow {
  /** `2030-01-31`, in the time zone of the export. */
  readonly day: string
  /** The vendor's name of the model; null if the export does not distinguish models. */
  readonly model: string | null
  /** Nano-units; undefined in an export of usage alone. */
  readonly amount?: bigint | undefined
  /** Three capital letters; undefined if the export has no currency. */
  readonly currency?: string | undefined
  readonly requests?: number | undefined
  /** Quantities by the gateway's units. */
  readonly units?: Readonly<Record<string, number>>
}

export interface Invoice {
  readonly format: string
  /** The zone of the export's days, unless the operator overrides it. */
  readonly timeZone: string
  readonly rows: AsyncIterable<InvoiceRow>
}

const DECIMAL = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,2}))?$/
/** Only commas between thousands are accepted: `12,50` has a decimal comma, and is not 1250. */
const GROUPED = /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?$/
const NANO_DIGITS = 9
const WHOLE_DIGITS_MAX = 15

/** Reads nano-units of a decimal, rounded half up; a `shift` of -2 reads hundredths. */
export function readMoney(value: unknown, where: string, shift = 0): bigint {
  const [, sign, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(readDecimal(value)) ?? []
  if (sign === undefined || whole.length + Number(exponent) > WHOLE_DIGITS_MAX) {
    throw new OperatorError(`${where}: ${JSON.stringify(value)} is not an amount`)
  }
  const digits = BigInt(whole + fraction)
  const move = NANO_DIGITS + shift + Number(exponent) - fraction.length
  const nanos = move >= 0 ? digits * 10n ** BigInt(move) : roundAt(digits, 10n ** BigInt(-move))
  return sign === '-' ? -nanos : nanos
}

/** Returns the text of a number without its group separators; empty for another type. */
function readDecimal(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return ''
  const text = String(value).trim()
  return GROUPED.test(text) ? text.replaceAll(',', '') : text
}

function roundAt(digits: bigint, divisor: bigint): bigint {
  return (digits * 2n + divisor) / (divisor * 2n)
}

/**
 * Reads a count; fractions are allowed, since some vendors sell thousands. Throws OperatorError.
 */
export function readInvoiceCount(value: unknown, where: string): number {
  const text = readDecimal(value)
  const number = Number(text)
  if (DECIMAL.test(text) && Math.abs(number) <= Number.MAX_SAFE_INTEGER) return number
  throw new OperatorError(`${where}: ${JSON.stringify(value)} is not a number`)
}

/** Returns the day at the beginning of a text such as `2030-01-31 12:00:00` or `20300131`. */
export function readDay(text: string, where: string): string {
  const [, year, month, day] = /^(\d{4})[-/.]?(\d\d)[-/.]?(\d\d)(?!\d)/.exec(text.trim()) ?? []
  const found = `${year}-${month}-${day}`
  const parsed = new Date(`${found}T00:00:00Z`)
  if (!Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(found)) return found
  throw new OperatorError(`${where}: ${JSON.stringify(text)} is not a day such as 2030-01-31`)
}

export function readInvoiceCurrency(value: unknown, where: string): string {
  const words: Readonly<Record<string, string>> = { 人民币: 'CNY', 美元: 'USD', RMB: 'CNY' }
  const text = typeof value === 'string' ? value.trim().toUpperCase() : ''
  const code = words[text] ?? text
  if (isCurrency(code)) return code
  throw new OperatorError(`${where}: ${JSON.stringify(value)} is not a currency of ISO 4217`)
}
