/** Prices as people read them. */

interface Price {
  readonly unit: string
  readonly per: number
  readonly amount: string
}

/** Returns `2.50 USD per 1,000,000 input tokens`, or `0.10 CNY per call`. */
export function describePrice({ unit, per, amount }: Price, currency: string): string {
  const name = unit.replaceAll('_', ' ')
  const units = per === 1 ? name : `${per.toLocaleString('en')} ${name}s`
  return `${amount} ${currency} per ${units}`
}
