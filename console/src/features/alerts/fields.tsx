/** The members of an alert, in the list and beside it. */
import { Text } from '@mantine/core'
import type { RowFields, Wording } from '../../components/list/fields.tsx'
import { StatusBadge, type Tone } from '../../components/state/status-badge.tsx'
import { WorkStatus } from '../../components/state/work-status.tsx'
import { AccountName } from '../../components/text/account-name.tsx'
import { formatMoney, formatNumber, formatTime } from '../../lib/format.ts'
import type { RowOf } from '../../lib/use-admin.ts'
import type { messages } from './messages.ts'

export type Alert = RowOf<'GET /operator/alerts'>
type Words = (typeof messages)['en']

export const EVENT_NAMES = [
  'budget.threshold',
  'balance.low',
  'balance.empty',
  'key.expiring',
  'books.unbalanced',
] as const satisfies readonly Alert['event'][]

const FIELDS: RowFields<Alert, Words> = [
  {
    word: 'event',
    place: 1,
    show: (alert, { t }) => <StatusBadge tone={toneOf(alert)} label={t(alert.event)} />,
  },
  { word: 'what', place: 3, wide: true, show: (alert, wording) => textOfAlert(alert, wording) },
  { key: 'at', as: 'time', place: 0 },
  {
    word: 'webhook',
    place: 4,
    show: ({ webhook }, { t, isFact }) => {
      if (webhook) return <WorkStatus status={webhook.status} />
      return isFact ? t('noWebhook') : '–'
    },
  },
  {
    word: 'mail',
    place: 5,
    in: 'list',
    show: ({ mails }, { t }) => {
      const sent = mails.filter(({ status }) => status === 'sent').length
      return mails.length > 0 ? t('mailCount', { sent, count: mails.length }) : '–'
    },
  },
  { word: 'mail', in: 'details', show: ({ mails }, { t }) => <Mails mails={mails} t={t} /> },
]

/** In an account. */
export const ALERT_FIELDS: RowFields<Alert, Words> = FIELDS

/** In the list of all accounts. */
export const OPERATOR_FIELDS: RowFields<Alert, Words> = [
  ...FIELDS,
  {
    word: 'account',
    place: 2,
    show: ({ account_id: id, account_name: name }, { isFact }) => {
      if (id === null || name === null) return '–'
      return isFact ? `${name} · ${id}` : <AccountName id={id} name={name} />
    },
  },
]

const SCOPES = ['key', 'member', 'tag'] as const

function toneOf({ event, members }: Alert): Tone {
  if (event === 'balance.empty' || event === 'books.unbalanced') return 'bad'
  return event === 'budget.threshold' && Number(members.threshold) >= 100 ? 'bad' : 'warning'
}

function textOfAlert(
  { event, members, currency }: Alert,
  { t, language }: Pick<Wording<Words>, 't' | 'language'>,
): string {
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
    const user = text('end_user')
    if (user) return t('userText', { ...used, user })
    // The first refusal counts as 100 %.
    const isRefusal = used.threshold === '100' && Number(text('spent')) < Number(text('amount'))
    const sentence = t(isRefusal ? 'refusedText' : 'budgetText', used)
    const scope = SCOPES.find((one) => one === text('scope'))
    const name = text('subject_name') || text('subject')
    return scope ? t(`of_${scope}`, { name, text: sentence }) : sentence
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

interface MailsProps {
  readonly mails: Alert['mails']
  readonly t: Wording<Words>['t']
}

const MAIL_TONES = { pending: 'busy', sent: 'good', failed: 'bad' } as const

function Mails({ mails, t }: MailsProps) {
  if (mails.length === 0) return t('noMail')
  return mails.map(({ email, status, error }) => (
    <div key={email}>
      {email} <StatusBadge tone={MAIL_TONES[status]} label={t(`mail_${status}`)} />
      {error ? (
        <Text size="xs" c="dimmed">
          {error}
        </Text>
      ) : null}
    </div>
  ))
}
