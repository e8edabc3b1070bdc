/** The latest calls; each links to the explanation of its charge. */
import { Table, Text } from '@mantine/core'
import { TextLink } from '../../components/links.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { SideScroll } from '../../components/page/side-scroll.tsx'
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
      <SideScroll label={t('recent')} minWidth={300}>
        <Table aria-label={t('recent')} fz="sm" horizontalSpacing="md">
          <Table.Tbody>
            {calls.map((call) => (
              <Table.Tr key={call.request_id}>
                <Table.Td>
                  <TextLink to="/usage" search={{ id: call.request_id }} inherit>
                    {call.model || call.endpoint}
                  </TextLink>
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <Text inherit c="dimmed" ff="monospace" fz="xs">
                    {call.endpoint}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <StatusBadge tone={TONES[call.status]} label={t(call.status)} />
                </Table.Td>
                <Table.Td ta="right">
                  <MoneyText amount={call.charged} currency={call.currency} />
                </Table.Td>
                <Table.Td ta="right">
                  <TimeText time={call.created_at} form="relative" />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </SideScroll>
    </Panel>
  )
}
