/** Open holds by age: an old hold needs investigation. */
import { Text } from '@mantine/core'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { RowTable } from '../../components/list/row-table.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { SUM_PLACES } from '../../lib/format.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

type Proof = AdminAnswer<'GET /operator/proof'>

const FIELDS: RowFields<Proof['open_holds'][number], (typeof messages)['en']> = [
  { key: 'age' },
  { key: 'count', align: 'right' },
  { key: 'amount', as: 'money', places: SUM_PLACES },
]

export function OpenHolds({ proof }: { readonly proof: Proof }) {
  const t = useMessages(messages)
  const columns = useColumns(messages, FIELDS)
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
        columns={columns}
      />
    </Panel>
  )
}
