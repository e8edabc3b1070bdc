/** Texts of margins. */
import { defineMessages } from '../../lib/i18n.tsx'
import { words } from '../../lib/words/shared-words.ts'

export const messages = defineMessages(
  {
    ...words.en,
    unit: 'Unit',
    margins: 'Price, upstream cost and margin',
    price: 'Price',
    cost: 'Upstream cost',
    loss: 'Loss {share}',
  },
  {
    ...words.zh,
    unit: '单位',
    margins: '价格、上游成本与毛利',
    price: '价格',
    cost: '上游成本',
    loss: '亏损 {share}',
  },
)
