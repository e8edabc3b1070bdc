/** Puts an alert into one sentence. */
import { formatMoney, formatNumber, formatTime } from '../../lib/format.ts'
import type { Language } from '../../lib/language.ts'

interface Alert {
  readonly event: string
  readonly members: Readonly<Record<string, unknown>>
  readonly currency: string | null
}

const SCOPES = ['key', 'member', 'tag', 'end_user'] as const

type Word =
  | 'budgetText'
  | 'refusedText'
  | `of_${(typeof SCOPES)[number]}`
  | 'lowText'
  | 'emptyText402'
  | 'keyText'
  | 'booksText'

interface Wording {
  readonly t: (word: Word, values: Readonly<Record<string, string>>) => string
  readonly language: Language
}

/** Returns one sentence. */
export function textOfAlert({ event, members, currency }: Alert, { t, language }: Wording): string {
  const text = (name: string) => String(members[name] ?? '')
  const money = (name: string) =>
    formatMoney(text(name), { currency: text('currency') || (currency ?? ''), language })
  if (event === 'budget.threshold') {
    const count = (name: string) =>
      text('unit') === 'money' ? money(name) : formatNumber(Number(text(name)), language)
    const used = {
      threshold: text('threshold'),
      spent: count('spent'),
      amount: count('amount'),
    }
    // The first refusal counts as 100 %.
    const isRefusal = used.threshold === '100' && Number(text('spent')) < Number(text('amount'))
    const sentence = t(isRefusal ? 'refusedText' : 'budgetText', used)
    const scope = SCOPES.find((one) => one === text('scope'))
    const name = text('end_user') || text('subject_name') || text('subject')
    return scope && name ? t(`of_${scope}`, { name, text: sentence }) : sentence
  }
  if (event === 'balance.low') {
    const mark = money('low_balance_at')
    return t('lowText', { available: money('available'), held: money('held'), mark })
  }
  if (event === 'balance.empty') {
    return t('emptyText402', { required: money('required'), available: money('available') })
  }
  if (event === 'key.expiring') {
    const name = text('key_name') || text('key')
    return t('keyText', { name, at: formatTime(text('expires_at'), language) })
  }
  return t('booksText', { failed: text('failed') })
}
