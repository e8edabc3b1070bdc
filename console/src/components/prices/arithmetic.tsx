/** The lines that add up to an amount: quantity times price. */
import { Table } from '@mantine/core'
import { columnPlaces, formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { SideScroll } from '../page/side-scroll.tsx'
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
  return (
    <SideScroll label={label} minWidth={260}>
      <Table aria-label={label} fz="xs" horizontalSpacing={6} verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('unit')}</Table.Th>
            <Table.Th ta="right">{t('quantity')}</Table.Th>
            <Table.Th ta="right">{t('price')}</Table.Th>
            <Table.Th ta="right">{t('amount')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {lines.map((line) => (
            <Table.Tr key={words.line(line)}>
              <Table.Td>{words.line(line)}</Table.Td>
              <Table.Td ta="right">{formatNumber(line.quantity, language, 3)}</Table.Td>
              <Table.Td ta="right">
                {money(line.unit_price)} {words.per(line.per, line.unit)}
              </Table.Td>
              <Table.Td ta="right">{sum(line.amount)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
        <Table.Tfoot>
          <Table.Tr>
            <Table.Th colSpan={3}>{t('total')}</Table.Th>
            <Table.Th ta="right">{sum(total)}</Table.Th>
          </Table.Tr>
        </Table.Tfoot>
      </Table>
    </SideScroll>
  )
}
