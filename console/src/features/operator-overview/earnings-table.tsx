/** Revenue, cost and margin by name, in the chosen order. */
import { Select, Text } from '@mantine/core'
import { TextLink } from '../../components/links.tsx'
import { type Column, DataTable } from '../../components/list/data-table.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { formatShare, SUM_PLACES } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { asPages } from '../../lib/use-admin.ts'
import { earningsPlaces } from './earnings-places.ts'
import { messages } from './messages.ts'

interface Earner {
  readonly name: string
  readonly currency: string
  readonly calls: number
  readonly errors: number
  readonly revenue: string
  readonly upstream_cost: string
  readonly margin: string | null
  readonly margin_share: number | null
  readonly uncosted_share: number | null
}

const ORDERS = ['revenue', 'cost', 'margin', 'share', 'calls', 'errors'] as const
export type EarningsOrder = (typeof ORDERS)[number]

export function readEarningsOrder(text: string): EarningsOrder {
  return ORDERS.find((one) => one === text) ?? 'revenue'
}

/** Sort order: largest first, but smallest first for margins, which need attention. */
const RANKS: Readonly<Record<EarningsOrder, (row: Earner) => number>> = {
  revenue: ({ revenue }) => -Number(revenue),
  cost: ({ upstream_cost: cost }) => -Number(cost),
  margin: ({ margin }) => (margin === null ? Number.MAX_VALUE : Number(margin)),
  share: ({ margin_share: share }) => share ?? Number.MAX_VALUE,
  calls: ({ calls }) => -calls,
  errors: ({ calls, errors }) => -(calls > 0 ? errors / calls : 0),
}

/** A smaller share would be shown as none. */
const SHOWN_MIN = 0.0005

/** `places` is one number for all rows, so that the points of a column align. */
const fieldsOf = (places: number): RowFields<Earner, (typeof messages)['en']> => [
  { key: 'calls', as: 'count', minor: true },
  {
    word: 'errors',
    align: 'right',
    show: ({ calls, errors }, { language }) =>
      formatShare(calls > 0 ? errors / calls : 0, language),
  },
  {
    word: 'revenue',
    align: 'right',
    show: ({ revenue, currency }) => (
      <Amount amount={revenue} currency={currency} places={places} />
    ),
  },
  {
    word: 'cost',
    align: 'right',
    minor: true,
    show: ({ margin, upstream_cost: cost, currency }) => (
      <Amount amount={margin === null ? null : cost} currency={currency} places={places} />
    ),
  },
  {
    word: 'margin',
    align: 'right',
    minor: true,
    show: ({ margin, currency }) => <Amount amount={margin} currency={currency} places={places} />,
  },
  { word: 'marginShare', align: 'right', show: (row) => <MarginShare row={row} /> },
]

interface EarningsTableProps {
  readonly title: string
  /** Header of the name column. */
  readonly what: string
  readonly rows: readonly Earner[]
  readonly order: EarningsOrder
  /** Target of a name's link. */
  readonly linkOf: (name: string) => { to: string; search: Readonly<Record<string, string>> }
}

export function EarningsTable({ title, what, rows, order, linkOf }: EarningsTableProps) {
  const t = useMessages(messages)
  const sorted = rows.toSorted((a, b) => RANKS[order](a) - RANKS[order](b))
  const name: Column<Earner> = {
    key: 'name',
    header: what,
    render: (row) => <TextLink {...linkOf(row.name)}>{row.name}</TextLink>,
  }
  const places = Math.max(SUM_PLACES, ...rows.map(earningsPlaces))
  const columns = [name, ...useColumns(messages, fieldsOf(places))]
  return (
    <DataTable
      label={title}
      pages={asPages({
        data: { data: sorted },
        error: null,
        isPending: false,
        isPlaceholderData: false,
        refetch: () => undefined,
      })}
      columns={columns}
      rowId={(row) => `${row.name} ${row.currency}`}
      empty={
        <Text size="sm" c="dimmed">
          {t('nothing')}
        </Text>
      }
    />
  )
}

interface AmountProps {
  /** Null for an unknown one. */
  readonly amount: string | null
  readonly currency: string
  readonly places: number
}

function Amount({ amount, currency, places }: AmountProps) {
  if (amount === null) return '–'
  return <MoneyText amount={amount} currency={currency} places={places} />
}

/** A loss is said in a word, not by its colour alone. */
function MarginShare({ row }: { readonly row: Earner }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { margin, margin_share: share, uncosted_share: unknown } = row
  if (margin === null) return <StatusBadge tone="quiet" label={t('unknown')} />
  const text = share === null ? '–' : formatShare(Math.abs(share), language)
  if (margin.startsWith('-')) return <StatusBadge tone="bad" label={t('loss', { share: text })} />
  if (!unknown || unknown < SHOWN_MIN) return text
  return t('partly', { share: text, unknown: formatShare(unknown, language) })
}

interface OrderSelectProps {
  readonly value: EarningsOrder
  readonly onChange: (order: EarningsOrder) => void
}

export function OrderSelect({ value, onChange }: OrderSelectProps) {
  const t = useMessages(messages)
  const names = {
    revenue: t('revenue'),
    cost: t('cost'),
    margin: t('margin'),
    share: t('marginShare'),
    calls: t('calls'),
    errors: t('errors'),
  }
  return (
    <Select
      size="xs"
      w={150}
      aria-label={t('order')}
      allowDeselect={false}
      value={value}
      data={ORDERS.map((one) => ({ value: one, label: names[one] }))}
      onChange={(next) => onChange(readEarningsOrder(next ?? ''))}
    />
  )
}
