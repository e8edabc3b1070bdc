/** Columns of the usage records. */
import type { Column } from '../../components/list/data-table.tsx'
import { WorkStatus } from '../../components/state/work-status.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { formatDuration } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { RowOf } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

type Call = RowOf<'GET /accounts/:account_id/usage'>

export function useCallColumns(): Column<Call>[] {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const money = (amount: string, { currency }: Call) => (
    <MoneyText amount={amount} currency={currency} />
  )
  return [
    {
      key: 'time',
      header: t('time'),
      render: (row) => <TimeText time={row.created_at} />,
      isTime: true,
    },
    { key: 'model', header: t('model'), render: (row) => row.model },
    { key: 'endpoint', header: t('endpoint'), render: (row) => row.endpoint, minor: true },
    {
      key: 'status',
      header: t('status'),
      render: (row) => <WorkStatus status={row.review ? 'review' : row.status} />,
    },
    {
      key: 'duration',
      header: t('duration'),
      render: (row) => (row.finished_at ? formatDuration(durationMs(row), language) : '–'),
      align: 'right',
      minor: true,
    },
    {
      key: 'held',
      header: t('held'),
      render: (row) => money(row.held, row),
      align: 'right',
      minor: true,
    },
    {
      key: 'charged',
      header: t('charged'),
      render: (row) => money(row.charged, row),
      align: 'right',
    },
  ]
}

function durationMs({ created_at: from, finished_at: to }: Call): number {
  return Date.parse(to ?? from) - Date.parse(from)
}
