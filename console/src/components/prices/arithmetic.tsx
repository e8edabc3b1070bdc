/** The lines that add up to an amount: quantity times price. */
import { columnPlaces, formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { type Column, RowTable } from '../list/row-table.tsx'
import { MoneyText } from '../text/money-text.tsx'
import { messages } from './arithmetic-messages.ts'
import { usePriceWords } from './price-words.ts'

interface Line {
  readonly unit: string
  readonly quantity: number
  readonly unit_price: string
  readonly per: number
  readonly amount: string
  readonly model?: string | undefined
  readonly role?: string | undefined
}

interface ArithmeticProps {
  readonly label: string
  readonly lines: readonly Line[]
  readonly total: string
  readonly currency: string
}

export function Arithmetic({ label, lines, total, currency }: ArithmeticProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const words = usePriceWords()
  const money = (amount: string) => <MoneyText amount={amount} currency={currency} places="exact" />
  const places = columnPlaces([total, ...lines.map(({ amount }) => amount)])
  const sum = (amount: string) => <MoneyText amount={amount} currency={currency} places={places} />
  const columns: readonly Column<Line>[] = [
    { key: 'unit', header: t('unit'), render: (line) => words.line(line) },
    {
      key: 'quantity',
      header: t('quantity'),
      align: 'right',
      render: ({ quantity }) => formatNumber(quantity, language, 3),
    },
    {
      key: 'price',
      header: t('price'),
      align: 'right',
      render: (line) => (
        <>
          {money(line.unit_price)} {words.per(line.per, line.unit)}
        </>
      ),
    },
    { key: 'amount', header: t('amount'), align: 'right', render: ({ amount }) => sum(amount) },
  ]
  return (
    <RowTable
      label={label}
      rows={lines}
      columns={columns}
      rowId={words.line}
      isDense
      total={{ label: t('total'), value: sum(total) }}
    />
  )
}
