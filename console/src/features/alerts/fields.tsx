/** The members of an alert, in the list and beside it. */
import { Text } from '@mantine/core'
import type { AlertEvent } from '../../../../server/base/lib/kinds-and-states.ts'
import type { RowFields, Wording } from '../../components/list/fields.tsx'
import { StatusBadge, type Tone } from '../../components/state/status-badge.tsx'
import { WorkStatus } from '../../components/state/work-status.tsx'
import { AccountName } from '../../components/text/account-name.tsx'
import type { RowOf } from '../../lib/use-admin.ts'
import { isKnownEvent, nameOfAlert, textOfAlert } from './alert-text.ts'
import type { messages } from './messages.ts'

export type Alert = RowOf<'GET /operator/alerts'>
type Words = (typeof messages)['en']

const FIELDS: RowFields<Alert, Words> = [
  {
    word: 'event',
    place: 1,
    show: (alert, wording) => (
      <StatusBadge tone={toneOf(alert)} label={nameOfAlert(alert, wording)} />
    ),
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

const TONES: Readonly<Record<AlertEvent, Tone>> = {
  'budget.threshold': 'warning',
  'balance.low': 'warning',
  'balance.empty': 'bad',
  'key.expiring': 'warning',
  'books.unbalanced': 'bad',
}

function toneOf({ event, members }: Alert): Tone {
  if (!isKnownEvent(event)) return 'quiet'
  const isUsedUp = event === 'budget.threshold' && Number(members.threshold) >= 100
  return isUsedUp ? 'bad' : TONES[event]
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
