/** The members of a task, in the list and beside it. */
import { Text } from '@mantine/core'
import type { RowFields } from '../../components/list/fields.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { WorkStatus } from '../../components/state/work-status.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { CHARGE_PLACES, formatDuration, formatMoney } from '../../lib/format.ts'
import { useNow } from '../../lib/hooks/use-now.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { RowOf } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

export const TASKS = 'GET /accounts/:account_id/tasks'
type Detail = AdminAnswer<'GET /accounts/:account_id/tasks/:task_id'>

export type ShownTask = RowOf<typeof TASKS> & Partial<Detail>

export const TASK_FIELDS: RowFields<ShownTask, (typeof messages)['en']> = [
  { key: 'kind', as: 'kind', in: 'list', place: 2 },
  { key: 'model', in: 'list', place: 3, minor: true },
  { key: 'status', as: 'status', place: 4 },
  {
    word: 'error',
    in: 'details',
    show: ({ error }, { textOf }) => error && <Text size="sm">{textOf(error.message)}</Text>,
  },
  { word: 'cost', place: 6, align: 'right', show: (row) => <Cost task={row} /> },
  { word: 'elapsed', place: 5, align: 'right', minor: true, show: (row) => <Elapsed task={row} /> },
  { word: 'callback', place: 7, minor: true, show: (row) => <Callback task={row} /> },
  { in: 'details', show: ({ callback }) => callback && <Text size="xs">{callback.url}</Text> },
  { key: 'id', as: 'copy', in: 'details' },
  { key: 'upstream_id', word: 'upstreamId', as: 'copy', in: 'details' },
  { key: 'key_id', word: 'key', as: 'copy', in: 'details' },
  { word: 'polls', in: 'details', show: ({ polls }) => polls },
  {
    word: 'nextPoll',
    in: 'details',
    show: ({ next_poll_at: next }) => next && <TimeText time={next} form="relative" />,
  },
  { key: 'created_at', word: 'created', as: 'time', place: 1 },
  { key: 'finished_at', word: 'finished', as: 'time', in: 'details', absent: '–' },
]

const TICK_MS = 1_000

type Timed = Pick<ShownTask, 'created_at' | 'finished_at' | 'elapsed_ms'>

/** Elapsed time, which counts on while the task runs. */
function Elapsed({ task }: { readonly task: Timed }) {
  const isOpen = task.finished_at === null
  const { language } = useLanguage()
  const nowMs = useNow(isOpen ? TICK_MS : undefined)
  const counted = Math.max(task.elapsed_ms, nowMs - Date.parse(task.created_at))
  return <span>{formatDuration(isOpen ? counted : task.elapsed_ms, language)}</span>
}

type Priced = Pick<ShownTask, 'charged' | 'held' | 'currency'>

/** The charge, or the hold until the charge is known. */
function Cost({ task }: { readonly task: Priced }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { charged, held, currency } = task
  if (charged !== null) return <MoneyText amount={charged} currency={currency} />
  const amount = formatMoney(held, { currency, language, places: CHARGE_PLACES })
  return (
    <Text component="span" inherit c="dimmed">
      {t('held', { amount })}
    </Text>
  )
}

function Callback({ task }: { readonly task: Pick<ShownTask, 'callback'> }) {
  const t = useMessages(messages)
  const { callback } = task
  if (!callback) {
    return (
      <Text component="span" inherit c="dimmed">
        {t('noCallback')}
      </Text>
    )
  }
  if (callback.status === 'waiting') return <StatusBadge tone="quiet" label={t('waiting')} />
  return <WorkStatus status={callback.status} />
}
