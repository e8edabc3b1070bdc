/** The currencies that accounts pay in and models are sold in. */

/** Codes of ISO 4217 that are not money: the test code, and the code for no currency. */
const NO_MONEY: readonly string[] = ['XTS', 'XXX']
const CURRENCIES = new Set(
  Intl.supportedValuesOf('currency').filter((code) => !NO_MONEY.includes(code)),
)

/** The problem of any other text, for a field's error. */
export const CURRENCY_PROBLEM =
  'must be a currency of ISO 4217 in three capital letters, such as CNY or USD'

/** Returns true for a currency of ISO 4217, current or former: `CNY`. */
export function isCurrency(text: string): boolean {
  return CURRENCIES.has(text)
}
