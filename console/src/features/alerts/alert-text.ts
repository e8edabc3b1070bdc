/** Puts an alert into one sentence. */
import {
  ALERT_EVENTS,
  type AlertEvent,
  BUDGET_SCOPES,
} from '../../../../server/base/lib/kinds-and-states.ts'
import { formatMoney, formatNumber, formatTime } from '../../lib/format.ts'
import type { Language } from '../../lib/language.ts'

interface Alert {
  readonly event: AlertEvent
  readonly members: Readonly<Record<string, unknown>>
  readonly currency: string | null
}

/** A budget of the whole account names nobody. */
type NamedScope = Exclude<(typeof BUDGET_SCOPES)[number], 'account'>

type Word =
  | 'budgetText'
  | 'refusedText'
  | `of_${NamedScope}`
  | 'lowText'
  | 'emptyText402'
  | 'keyText'
  | 'booksText'

interface Wording {
  readonly t: (word: Word, values: Readonly<Record<string, string>>) => string
  readonly language: Language
}

/** The members of an alert as texts. */
interface Members extends Wording {
  readonly text: (name: string) => string
  readonly money: (name: string) => string
}

const SENTENCES: Readonly<Record<AlertEvent, (members: Members) => string>> = {
  'budget.threshold': describeBudget,
  'balance.low': ({ t, money }) =>
    t('lowText', {
      available: money('available'),
      held: money('held'),
      mark: money('low_balance_at'),
    }),
  'balance.empty': ({ t, money }) =>
    t('emptyText402', { required: money('required'), available: money('available') }),
  'key.expiring': ({ t, text, language }) =>
    t('keyText', {
      name: text('key_name') || text('key'),
      at: formatTime(text('expires_at'), language),
    }),
  'books.unbalanced': ({ t, text }) => t('booksText', { failed: text('failed') }),
}

/** Returns false for the events of a later gateway, to which an open console may be connected. */
export function isKnownEvent(event: string): event is AlertEvent {
  return ALERT_EVENTS.some((known) => known === event)
}

/** Names the event of an alert. */
export function nameOfAlert(
  { event }: Pick<Alert, 'event'>,
  { t }: { readonly t: (word: AlertEvent) => string },
): string {
  return isKnownEvent(event) ? t(event) : event
}

/** Returns one sentence, or the event if it is not known. */
export function textOfAlert({ event, members, currency }: Alert, wording: Wording): string {
  if (!isKnownEvent(event)) return event
  const { language } = wording
  const text = (name: string) => String(members[name] ?? '')
  const money = (name: string) =>
    formatMoney(text(name), { currency: text('currency') || (currency ?? ''), language })
  return SENTENCES[event]({ ...wording, text, money })
}

function describeBudget({ t, language, text, money }: Members): string {
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
  const scope = BUDGET_SCOPES.find((one) => one === text('scope'))
  const name = text('end_user') || text('subject_name') || text('subject')
  if (scope === undefined || scope === 'account' || !name) return sentence
  return t(`of_${scope}`, { name, text: sentence })
}
