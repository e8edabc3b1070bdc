/** Texts about currencies. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  { notSold: 'No model is sold in {currency} yet, only in {sold}.' },
  { notSold: '尚无以 {currency} 计价的模型，目前仅有 {sold}。' },
)
