/** Each price with the upstream's cost for the same quantity, and the margin. */
import { Table, Text, Title } from '@mantine/core'
import type { AdminAnswer } from '../../lib/api.ts'
import { formatShare } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { SideScroll } from '../page/side-scroll.tsx'
import { StatusBadge } from '../state/status-badge.tsx'
import { MoneyText } from '../text/money-text.tsx'
import { messages } from './margins-messages.ts'
import { usePriceWords } from './price-words.ts'

type Model = AdminAnswer<'GET /operator/models/:model_id'>
type Margin = Model['margins'][number]

interface MarginsProps {
  readonly margins: readonly Margin[]
  readonly currency: string
}

export function Margins({ margins, currency }: MarginsProps) {
  const t = useMessages(messages)
  if (margins.length === 0) return null
  return (
    <section>
      <Title order={3} size="h4" mb="xs">
        {t('margins')}
      </Title>
      <SideScroll label={t('margins')}>
        <Table verticalSpacing={6} fz="sm" aria-label={t('margins')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('unit')}</Table.Th>
              <Table.Th ta="right">{t('price')}</Table.Th>
              <Table.Th ta="right">{t('cost')}</Table.Th>
              <Table.Th ta="right">{t('margin')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {margins.map((one) => (
              <Line key={JSON.stringify(one)} margin={one} currency={currency} />
            ))}
          </Table.Tbody>
        </Table>
      </SideScroll>
    </section>
  )
}

function Line({ margin, currency }: { readonly margin: Margin; readonly currency: string }) {
  const words = usePriceWords()
  const { unit, per, when, channel, price, upstream_cost: cost } = margin
  const money = (amount: string | null) =>
    amount === null ? '–' : <MoneyText amount={amount} currency={currency} places="exact" />
  return (
    <Table.Tr>
      <Table.Td>
        {words.per(per, unit)}
        <Text size="xs" c="dimmed">
          {[...(when ? [words.when(when)] : []), channel].join(' · ')}
        </Text>
      </Table.Td>
      <Table.Td ta="right">{money(price)}</Table.Td>
      <Table.Td ta="right">{money(cost)}</Table.Td>
      <Table.Td ta="right">
        <MarginShare share={margin.margin_share} margin={margin.margin} />
      </Table.Td>
    </Table.Tr>
  )
}

interface MarginShareProps {
  /** Null if unknown. */
  readonly margin: string | null
  readonly share: number | null
}

/** Marks a loss with a word, not with color alone. */
export function MarginShare({ margin, share }: MarginShareProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  if (margin === null) return <StatusBadge tone="quiet" label={t('unknown')} />
  const text = share === null ? '–' : formatShare(Math.abs(share), language)
  if (margin.startsWith('-')) return <StatusBadge tone="bad" label={t('loss', { share: text })} />
  return <span>{text}</span>
}

/** Returns the smallest margin of a model, as far as costs are known. */
export function smallestMargin(margins: readonly Margin[]): Margin | undefined {
  const known = margins.filter(({ margin }) => margin !== null)
  const order = ({ margin_share: share, margin }: Margin) => share ?? (Number(margin) < 0 ? -1 : 1)
  return known.toSorted((a, b) => order(a) - order(b))[0]
}
