/** Words for prices in the language of the page. */
import { useLanguage } from '../../lib/i18n.tsx'
import { wordPrices } from './word-prices.ts'

export function usePriceWords() {
  return wordPrices(useLanguage().language)
}
