/** For people who can sign in but belong to no account. */
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { EmptyState } from '../components/empty-state.tsx'
import { useMessages } from '../lib/i18n.tsx'
import { useSession } from '../lib/session.tsx'
import { messages } from './messages.ts'

export function NoAccount() {
  const t = useMessages(messages)
  const { session } = useSession()
  const action = session.user.operator ? (
    <Button component={Link} to="/operator/accounts">
      {t('toAccounts')}
    </Button>
  ) : undefined
  return (
    <EmptyState icon="users" title={t('noAccountTitle')} action={action}>
      {t(session.user.operator ? 'noAccountOperator' : 'noAccountText')}
    </EmptyState>
  )
}
