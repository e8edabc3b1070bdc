/** Links from an alert to its cause and to its delivery. */
import { Group } from '@mantine/core'
import { TextLink } from '../../components/links.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import type { Alert } from './fields.tsx'
import { messages } from './messages.ts'

export function AlertLinks({ alert }: { readonly alert: Alert }) {
  const t = useMessages(messages)
  const { event, members, webhook, account_id: accountId } = alert
  // Only alerts of operators have none, and their links name none.
  const account = accountId ?? ''
  const id = (name: string) => String(members[name] ?? '')
  return (
    <Group gap="md">
      {event === 'budget.threshold' ? (
        <TextLink to="/budgets" search={{ account, id: id('budget_id') }} size="sm">
          {t('toBudget')}
        </TextLink>
      ) : null}
      {event === 'key.expiring' ? (
        <TextLink to="/keys" search={{ account, id: id('key_id') }} size="sm">
          {t('toKey')}
        </TextLink>
      ) : null}
      {event === 'balance.low' || event === 'balance.empty' ? (
        <TextLink to="/billing" search={{ account }} size="sm">
          {t('toBilling')}
        </TextLink>
      ) : null}
      {event === 'books.unbalanced' ? (
        <TextLink to="/operator/proof" size="sm">
          {t('toProof')}
        </TextLink>
      ) : null}
      {webhook ? (
        <TextLink to="/webhooks" search={{ account, id: webhook.delivery_id }} size="sm">
          {t('toDelivery')}
        </TextLink>
      ) : null}
    </Group>
  )
}
