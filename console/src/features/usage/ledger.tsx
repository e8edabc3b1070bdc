/** The ledger entries of one call: held, then charged and returned. */
import { type Column, RowTable } from '../../components/list/row-table.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { columnPlaces } from '../../lib/format.ts'
import { useMessages } from '../../lib/i18n.tsx'
import type { ExplainedCall } from './explained-call.ts'
import { messages } from './messages.ts'
import { Section } from './section.tsx'

const STEPS = [
  'hold',
  'charge',
  'return',
  'overrun',
  'debt',
  'repay',
  'correction',
  'correction_debt',
  'correction_return',
] as const
type Step = (typeof STEPS)[number]
type Entry = ExplainedCall['ledger'][number]
const isStep = (text: string): text is Step => STEPS.some((one) => one === text)

export function LedgerEntries({ call }: { readonly call: ExplainedCall }) {
  const t = useMessages(messages)
  const columns = useColumns(call)
  if (call.ledger.length === 0) return null
  return (
    <Section title={t('ledger')}>
      <RowTable
        label={t('ledger')}
        rows={call.ledger}
        columns={columns}
        rowId={({ step }) => step}
      />
    </Section>
  )
}

function useColumns({ ledger, currency }: ExplainedCall): readonly Column<Entry>[] {
  const t = useMessages(messages)
  const place = (name: string) => {
    if (name === 'available') return t('available')
    if (name === 'held') return t('heldAccount')
    return name === 'revenue' ? t('revenue') : name
  }
  // The one table that proves a charge: to the last digit.
  const places = columnPlaces(ledger.map(({ amount }) => amount))
  return [
    {
      key: 'step',
      header: t('step'),
      render: ({ step }) => (isStep(step) ? t(`step_${step}`) : step),
    },
    {
      key: 'places',
      header: t('fromTo'),
      render: ({ from, to }) => `${place(from)} → ${place(to)}`,
    },
    {
      key: 'at',
      header: t('at'),
      isTime: true,
      wide: true,
      render: ({ at }) => <TimeText time={at} />,
    },
    {
      key: 'amount',
      header: t('amount'),
      align: 'right',
      render: ({ amount }) => <MoneyText amount={amount} currency={currency} places={places} />,
    },
  ]
}
