/** Open holds by age: an old hold needs investigation. */
import { Text } from '@mantine/core'
import { RowTable } from '../../components/list/row-table.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { SUM_PLACES } from '../../lib/format.ts'
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
      <RowTable
        label={t('openHolds')}
        rows={holds}
        rowId={({ age, currency }) => `${age} ${currency}`}
        columns={[
          { key: 'age', header: t('age'), render: ({ age }) => age },
          { key: 'count', header: t('count'), align: 'right', render: ({ count }) => count },
          {
            key: 'amount',
            header: t('amount'),
            align: 'right',
            render: ({ amount, currency }) => (
              <MoneyText amount={amount} currency={currency} places={SUM_PLACES} />
            ),
          },
        ]}
      />
    </Panel>
  )
}
