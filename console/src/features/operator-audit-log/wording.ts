/** Words the values of an entry: names for ids, amounts with their currency, readable times. */
import { nameAccount } from '../../components/text/name-account.ts'
import { formatMoney, formatTime } from '../../lib/format.ts'
import type { Language } from '../../lib/language.ts'
import type { RowOf } from '../../lib/use-admin.ts'

export type LogEntry = RowOf<'GET /operator/audit-log'>

/** Members of an entry, and the last parts of changed paths, that are amounts. */
const AMOUNTS = new Set(['amount', 'balance', 'spend_limit', 'low_balance_at'])
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

/** Returns the name behind an id; the text itself where it is none. */
function nameOf(text: string, { names }: LogEntry): string {
  const name = names[text]
  if (name === undefined) return text
  return text.startsWith('acct_') ? nameAccount({ id: text, name }) : name
}

/** `acct_… key_…` → `nightly (Acme …x7Kd)`: the thing, and the account that it belongs to. */
export function wordTarget(row: LogEntry): string {
  const [first = '', ...rest] = row.target.split(' ').filter(Boolean)
  const whole = nameOf(first, row)
  if (rest.length === 0) return whole
  return `${rest.map((one) => nameOf(one, row)).join(' ')} (${whole})`
}

/** Words one value; `path` is its member, such as `limits.requests_per_minute`. */
export function wordValue(
  value: unknown,
  { path, row, language }: { readonly path: string; row: LogEntry; readonly language: Language },
): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) {
    return value.map((one) => wordValue(one, { path, row, language })).join(', ')
  }
  if (typeof value !== 'string') return JSON.stringify(value)
  if (TIME.test(value)) return formatTime(value, language)
  const isAmount = AMOUNTS.has(path.split('.').at(-1) ?? '') && row.currency !== null
  if (isAmount) return formatMoney(value, { currency: row.currency ?? '', language })
  return nameOf(value, row)
}
