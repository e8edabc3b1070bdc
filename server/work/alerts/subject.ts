/** The members of an alert as callers and people see them: amounts are decimals. */
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

export function describeSubject(
  subject: Readonly<Record<string, unknown>>,
  currency: string | null,
): Record<string, unknown> {
  const isMoney = subject.unit === 'money'
  const members = Object.entries(subject).map(([name, value]) => {
    const isAmount = AMOUNTS.has(name) || (isMoney && OF_BUDGET.has(name))
    return [name, isAmount ? printAmount(value) : value]
  })
  const known: Record<string, unknown> = Object.fromEntries(members)
  return isMoney && currency !== null ? { currency, ...known } : known
}

function printAmount(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,19}$/.test(value)
    ? formatAmount(BigInt(value))
    : value
}
