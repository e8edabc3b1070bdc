/**
 * The members of an alert as callers and people see them, in the forms of the API: amounts are
 * decimals, times are in UTC, and a budget of the whole account has no subject.
 */
import { formatAmount } from '../../base/lib/money.ts'

/** Members in nano-units. */
const AMOUNTS: ReadonlySet<string> = new Set([
  'available',
  'held',
  'debt',
  'required',
  'low_balance_at',
])
/** Members in the unit of a budget. */
const OF_BUDGET: ReadonlySet<string> = new Set(['amount', 'spent'])
/** Times as the database's JSON has them. */
const TIMES: ReadonlySet<string> = new Set(['window_start', 'resets_at', 'expires_at'])

export function describeSubject(
  subject: Readonly<Record<string, unknown>>,
  currency: string | null,
): Record<string, unknown> {
  const isMoney = subject.unit === 'money'
  const members = Object.entries(subject).map(([name, value]) => {
    const isAmount = AMOUNTS.has(name) || (isMoney && OF_BUDGET.has(name))
    if (isAmount) return [name, printAmount(value)]
    if (TIMES.has(name)) return [name, printTime(value)]
    return [name, name === 'subject' && value === '' ? null : value]
  })
  const known: Record<string, unknown> = Object.fromEntries(members)
  return isMoney && currency !== null ? { currency, ...known } : known
}

function printTime(value: unknown): unknown {
  const at = typeof value === 'string' ? new Date(value) : undefined
  return at && !Number.isNaN(at.getTime()) ? at.toISOString() : value
}

function printAmount(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,19}$/.test(value)
    ? formatAmount(BigInt(value))
    : value
}
