/** The latest calls; each links to the explanation of its charge. */
import { Text } from '@mantine/core'
import { TextLink } from '../../components/links.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { RowTable } from '../../components/list/row-table.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { StatusBadge, type Tone } from '../../components/state/status-badge.tsx'
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

const FIELDS: RowFields<Call, (typeof messages)['en']> = [
  { word: 'model', show: (call) => <Explain call={call} /> },
  { word: 'endpoint', minor: true, show: ({ endpoint }) => <Path path={endpoint} /> },
  {
    word: 'status',
    show: ({ status }, { t }) => <StatusBadge tone={TONES[status]} label={t(status)} />,
  },
  { key: 'charged', word: 'cost', as: 'money' },
  { key: 'created_at', word: 'time', as: 'ago', align: 'right' },
]

export function RecentCalls({ calls }: { readonly calls: readonly Call[] }) {
  const t = useMessages(messages)
  const columns = useColumns(messages, FIELDS)
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

function Path({ path }: { readonly path: string }) {
  return (
    <Text inherit c="dimmed" ff="monospace" fz="xs">
      {path}
    </Text>
  )
}

function Explain({ call }: { readonly call: Call }) {
  return (
    <TextLink to="/usage" search={{ id: call.request_id }} inherit>
      {call.model || call.endpoint}
    </TextLink>
  )
}
