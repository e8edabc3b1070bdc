/** The latest calls; each links to the explanation of its charge. */
import { Text } from '@mantine/core'
import { TextLink } from '../../components/links.tsx'
import { type Column, RowTable } from '../../components/list/row-table.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { StatusBadge, type Tone } from '../../components/state/status-badge.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import type { AccountOverview } from './answers.ts'
import { messages } from './messages.ts'

type Call = AccountOverview['recent_calls'][number]

const TONES: Readonly<Record<Call['status'], Tone>> = {
  running: 'busy',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'quiet',
  lost: 'warning',
}

export function RecentCalls({ calls }: { readonly calls: readonly Call[] }) {
  const t = useMessages(messages)
  const columns = useColumns()
  if (calls.length === 0) return null
  return (
    <Panel
      flush
      title={t('recent')}
      aside={
        <TextLink to="/usage" size="sm">
          {t('allCalls')}
        </TextLink>
      }
    >
      <RowTable
        label={t('recent')}
        rows={calls}
        columns={columns}
        rowId={(call) => call.request_id}
        hasHiddenHead
      />
    </Panel>
  )
}

function useColumns(): readonly Column<Call>[] {
  const t = useMessages(messages)
  return [
    {
      key: 'model',
      header: t('model'),
      render: (call) => (
        <TextLink to="/usage" search={{ id: call.request_id }} inherit>
          {call.model || call.endpoint}
        </TextLink>
      ),
    },
    {
      key: 'endpoint',
      header: t('endpoint'),
      minor: true,
      render: (call) => (
        <Text inherit c="dimmed" ff="monospace" fz="xs">
          {call.endpoint}
        </Text>
      ),
    },
    {
      key: 'status',
      header: t('status'),
      render: (call) => <StatusBadge tone={TONES[call.status]} label={t(call.status)} />,
    },
    {
      key: 'charge',
      header: t('cost'),
      align: 'right',
      render: (call) => <MoneyText amount={call.charged} currency={call.currency} />,
    },
    {
      key: 'time',
      header: t('time'),
      align: 'right',
      render: (call) => <TimeText time={call.created_at} form="relative" />,
    },
  ]
}
