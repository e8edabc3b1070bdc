/** Note under the field of a currency that no model is sold in: its accounts can call nothing. */
import { useMessages } from '../../lib/i18n.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { messages } from './currency-messages.ts'

export function CurrencyNote({ currency }: { readonly currency: string }) {
  const t = useMessages(messages)
  const { data } = useAdmin('GET /operator/models', {})
  if (!data || currency.length !== 3) return null
  const sold = [
    ...new Set(data.data.flatMap((model) => (model.free ? [] : (model.currency ?? [])))),
  ]
  if (sold.length === 0 || sold.includes(currency)) return null
  return t('notSold', { currency, sold: sold.join(', ') })
}
