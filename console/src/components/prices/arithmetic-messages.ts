/** Texts of a calculation. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  { unit: 'Unit', quantity: 'Quantity', price: 'Price', amount: 'Amount', total: 'Total' },
  { unit: '单位', quantity: '数量', price: '单价', amount: '金额', total: '合计' },
)
