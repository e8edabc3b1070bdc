/** Prices in words: an amount for a number of units, and its conditions. */
import { Text } from '@mantine/core'
import { MoneyText } from '../text/money-text.tsx'
import classes from './price-list.module.css'
import { usePriceWords } from './price-words.ts'

interface PriceListProps {
  readonly currency: string
  readonly prices: readonly {
    readonly unit: string
    readonly per: number
    readonly amount: string
    readonly when?: Readonly<Record<string, unknown>> | undefined
  }[]
  /** Number of lines shown before the rest is only counted. */
  readonly most?: number
}

export function PriceLines({ currency, prices, most = prices.length }: PriceListProps) {
  const words = usePriceWords()
  const shown = prices.slice(0, most)
  return (
    <>
      <ul className={classes.list}>
        {shown.map((price) => (
          <li key={JSON.stringify(price)}>
            <MoneyText
              amount={price.amount}
              currency={currency}
              places="exact"
              className={classes.amount}
            />{' '}
            {words.per(price.per, price.unit)}
            {price.when ? <span className={classes.when}> · {words.when(price.when)}</span> : null}
          </li>
        ))}
      </ul>
      {prices.length > shown.length ? (
        <Text size="xs" c="dimmed">
          {words.more(prices.length - shown.length)}
        </Text>
      ) : null}
    </>
  )
}
