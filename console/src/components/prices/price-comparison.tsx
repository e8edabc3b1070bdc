/** Two lists of prices side by side, with the change of each. */
import { Table, Text } from '@mantine/core'
import { formatShare } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { SideScroll } from '../page/side-scroll.tsx'
import { MoneyText } from '../text/money-text.tsx'
import { type ComparedPrice, comparePrices, type PricePair } from './compare-prices.ts'
import { messages } from './price-comparison-messages.ts'
import { usePriceWords } from './price-words.ts'

interface PriceList {
  /** Heading of its column. */
  readonly title: string
  readonly currency: string
  readonly prices: readonly ComparedPrice[]
}

interface PriceComparisonProps {
  readonly label: string
  readonly before: PriceList
  readonly after: PriceList
  /** True to only count the prices that stay. */
  readonly onlyChanges?: boolean
}

export function PriceComparison(props: PriceComparisonProps) {
  const { label, before, after, onlyChanges = false } = props
  const t = useMessages(messages)
  const pairs = comparePrices(before.prices, after.prices)
  const hasNewCurrency = before.currency !== after.currency
  const shown = onlyChanges && !hasNewCurrency ? pairs.filter(isChange) : pairs
  return (
    <>
      <SideScroll label={label}>
        <Table verticalSpacing={4} fz="sm" aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('unit')}</Table.Th>
              <Table.Th ta="right">{before.title}</Table.Th>
              <Table.Th ta="right">{after.title}</Table.Th>
              <Table.Th ta="right">{t('change')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((pair) => (
              <Line
                key={JSON.stringify(pair)}
                pair={pair}
                currencies={[before.currency, after.currency]}
              />
            ))}
          </Table.Tbody>
        </Table>
      </SideScroll>
      {shown.length < pairs.length ? (
        <Text size="xs" c="dimmed">
          {t('rest', { count: pairs.length - shown.length })}
        </Text>
      ) : null}
    </>
  )
}

const isChange = ({ before, after, share }: PricePair) =>
  before === undefined ||
  after === undefined ||
  (share === undefined ? before !== after : share !== 0)

interface LineProps {
  readonly pair: PricePair
  readonly currencies: readonly [string, string]
}

function Line({ pair, currencies }: LineProps) {
  const words = usePriceWords()
  const { unit, per, when, before, after } = pair
  const money = (amount: string | undefined, currency: string) =>
    amount === undefined ? '–' : <MoneyText amount={amount} currency={currency} places="exact" />
  return (
    <Table.Tr>
      <Table.Td>
        {words.per(per, unit)}
        {when ? (
          <Text size="xs" c="dimmed">
            {words.when(when)}
          </Text>
        ) : null}
      </Table.Td>
      <Table.Td ta="right">{money(before, currencies[0])}</Table.Td>
      <Table.Td ta="right">{money(after, currencies[1])}</Table.Td>
      <Table.Td ta="right">
        {currencies[0] === currencies[1] ? <Change pair={pair} /> : '–'}
      </Table.Td>
    </Table.Tr>
  )
}

function Change({ pair: { before, after, share } }: { readonly pair: PricePair }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  if (before === undefined) return t('added')
  if (after === undefined) return t('removed')
  if (share === undefined) return before === after ? t('same') : '–'
  if (share === 0)
    return (
      <Text inherit component="span" c="dimmed">
        {t('same')}
      </Text>
    )
  return `${share > 0 ? '+' : '−'}${formatShare(Math.abs(share), language)}`
}
