/** Prices in words: an amount for a number of units, and its conditions. */
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
  /** Number of lines shown; the last also counts the rest. */
  readonly most?: number
}

export function PriceLines({ currency, prices, most = prices.length }: PriceListProps) {
  const words = usePriceWords()
  const shown = prices.slice(0, most)
  const more = prices.length - shown.length
  return (
    <ul className={classes.list}>
      {shown.map((price, index) => (
        <li key={JSON.stringify(price)}>
          <MoneyText
            amount={price.amount}
            currency={currency}
            places="exact"
            className={classes.amount}
          />{' '}
          {words.per(price.per, price.unit)}
          {price.when ? <span className={classes.when}> · {words.when(price.when)}</span> : null}
          {more > 0 && index === shown.length - 1 ? (
            <span className={classes.when}> · {words.more(more)}</span>
          ) : null}
        </li>
      ))}
    </ul>
  )
}
