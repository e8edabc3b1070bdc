/** Open holds by age: an old hold needs investigation. */
import { Table, Text } from '@mantine/core'
import { Panel } from '../../components/page/panel.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

export function OpenHolds({ proof }: { readonly proof: AdminAnswer<'GET /operator/proof'> }) {
  const t = useMessages(messages)
  const { open_holds: holds, oldest_open_hold_at: oldest } = proof
  if (holds.length === 0) {
    return (
      <Panel title={t('openHolds')}>
        <Text size="sm" c="dimmed">
          {t('openHoldsEmpty')}
        </Text>
      </Panel>
    )
  }
  const aside = (
    <Text size="sm" c="dimmed" component="span">
      {t('oldest')} <TimeText time={oldest} form="relative" />
    </Text>
  )
  return (
    <Panel title={t('openHolds')} aside={aside} flush>
      <Table aria-label={t('openHolds')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('age')}</Table.Th>
            <Table.Th ta="right">{t('count')}</Table.Th>
            <Table.Th ta="right">{t('amount')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {holds.map(({ age, count, amount, currency }) => (
            <Table.Tr key={`${age} ${currency}`}>
              <Table.Td>{age}</Table.Td>
              <Table.Td ta="right">{count}</Table.Td>
              <Table.Td ta="right">
                <MoneyText amount={amount} currency={currency} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Panel>
  )
}
