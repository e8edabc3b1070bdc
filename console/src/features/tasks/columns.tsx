/** Columns of the task list. */
import { Text } from '@mantine/core'
import type { Column } from '../../components/list/data-table.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { useWorkKind } from '../../components/state/work-kind.ts'
import { WorkStatus } from '../../components/state/work-status.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { CHARGE_PLACES, formatDuration, formatMoney } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { RowOf } from '../../lib/use-admin.ts'
import { useNow } from '../../lib/use-now.ts'
import { messages } from './messages.ts'

export const TASKS = 'GET /accounts/:account_id/tasks'
export type ShownTask = RowOf<typeof TASKS>

export function useTaskColumns(): readonly Column<ShownTask>[] {
  const t = useMessages(messages)
  const kindName = useWorkKind()
  return [
    {
      key: 'created',
      header: t('created'),
      render: (row) => <TimeText time={row.created_at} />,
      isTime: true,
    },
    { key: 'kind', header: t('kind'), render: (row) => kindName(row.kind) },
    { key: 'model', header: t('model'), render: (row) => row.model, minor: true },
    { key: 'status', header: t('status'), render: (row) => <WorkStatus status={row.status} /> },
    {
      key: 'elapsed',
      header: t('elapsed'),
      align: 'right',
      minor: true,
      render: (row) => <Elapsed task={row} />,
    },
    { key: 'cost', header: t('cost'), align: 'right', render: (row) => <Cost task={row} /> },
    {
      key: 'callback',
      header: t('callback'),
      minor: true,
      render: (row) => <Callback task={row} />,
    },
  ]
}

const TICK_MS = 1_000

type Timed = Pick<ShownTask, 'created_at' | 'finished_at' | 'elapsed_ms'>

/** Elapsed time, which counts on while the task runs. */
export function Elapsed({ task }: { readonly task: Timed }) {
  const isOpen = task.finished_at === null
  const { language } = useLanguage()
  const nowMs = useNow(isOpen ? TICK_MS : undefined)
  const counted = Math.max(task.elapsed_ms, nowMs - Date.parse(task.created_at))
  return <span>{formatDuration(isOpen ? counted : task.elapsed_ms, language)}</span>
}

type Priced = Pick<ShownTask, 'charged' | 'held' | 'currency'>

/** The charge, or the hold until the charge is known. */
export function Cost({ task }: { readonly task: Priced }) {
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

export function Callback({ task }: { readonly task: Pick<ShownTask, 'callback'> }) {
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
