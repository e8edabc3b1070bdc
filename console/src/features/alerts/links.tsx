/** Links from an alert to its cause and to its delivery. */
import { Group } from '@mantine/core'
import type { ReactNode } from 'react'
import type { AlertEvent } from '../../../../server/base/lib/kinds-and-states.ts'
import { TextLink } from '../../components/links.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { isKnownEvent } from './alert-text.ts'
import type { Alert } from './fields.tsx'
import { messages } from './messages.ts'

interface CauseProps {
  /** Empty in alerts of operators alone, whose links name none. */
  readonly account: string
  readonly members: Alert['members']
}

const CAUSES: Readonly<Record<AlertEvent, (props: CauseProps) => ReactNode>> = {
  'budget.threshold': BudgetLink,
  'balance.low': BillingLink,
  'balance.empty': BillingLink,
  'key.expiring': KeyLink,
  'books.unbalanced': ProofLink,
}

export function AlertLinks({ alert }: { readonly alert: Alert }) {
  const t = useMessages(messages)
  const { event, members, webhook, account_id: accountId } = alert
  const account = accountId ?? ''
  const Cause = isKnownEvent(event) ? CAUSES[event] : undefined
  return (
    <Group gap="md">
      {Cause ? <Cause account={account} members={members} /> : null}
      {webhook ? (
        <TextLink to="/webhooks" search={{ account, id: webhook.delivery_id }} size="sm">
          {t('toDelivery')}
        </TextLink>
      ) : null}
    </Group>
  )
}

function BudgetLink({ account, members }: CauseProps) {
  const t = useMessages(messages)
  return (
    <TextLink to="/budgets" search={{ account, id: String(members.budget_id ?? '') }} size="sm">
      {t('toBudget')}
    </TextLink>
  )
}

function KeyLink({ account, members }: CauseProps) {
  const t = useMessages(messages)
  return (
    <TextLink to="/keys" search={{ account, id: String(members.key_id ?? '') }} size="sm">
      {t('toKey')}
    </TextLink>
  )
}

function BillingLink({ account }: CauseProps) {
  const t = useMessages(messages)
  return (
    <TextLink to="/billing" search={{ account }} size="sm">
      {t('toBilling')}
    </TextLink>
  )
}

function ProofLink() {
  const t = useMessages(messages)
  return (
    <TextLink to="/operator/proof" size="sm">
      {t('toProof')}
    </TextLink>
  )
}
