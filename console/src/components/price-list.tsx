/** Prices as people say them: an amount for so many of a unit, and when it holds. */
import { Box, Text } from '@mantine/core'
import { formatNumber } from '../lib/format.ts'
import { useLanguage } from '../lib/i18n.tsx'
import { MoneyText } from './money-text.tsx'

interface PriceListProps {
  readonly currency: string
  readonly prices: readonly {
    readonly unit: string
    readonly per: number
    readonly amount: string
    readonly when?: Readonly<Record<string, unknown>> | undefined
  }[]
}

export function PriceList({ currency, prices }: PriceListProps) {
  const { language } = useLanguage()
  return (
    <Box>
      {prices.map((price) => (
        <Text key={JSON.stringify(price)} size="sm">
          <MoneyText amount={price.amount} currency={currency} places={9} /> /{' '}
          {price.per === 1 ? '' : `${formatNumber(price.per, language)} `}
          {price.unit}
          {price.when ? (
            <Text component="span" size="xs" c="dimmed">
              {' '}
              {describeConditions(price.when)}
            </Text>
          ) : null}
        </Text>
      ))}
    </Box>
  )
}

function describeConditions(when: Readonly<Record<string, unknown>>): string {
  return Object.entries(when)
    .map(([fact, value]) => {
      if (typeof value !== 'object' || value === null) return `${fact} = ${String(value)}`
      const { min, below } = value as { readonly min?: number; readonly below?: number }
      const parts = [min === undefined ? '' : `≥ ${min}`, below === undefined ? '' : `< ${below}`]
      return `${fact} ${parts.filter((part) => part !== '').join(', ')}`
    })
    .join(' · ')
}
