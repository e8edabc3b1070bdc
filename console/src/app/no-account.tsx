/** For people who can sign in but belong to no account. */

import { ButtonLink } from '../components/links.tsx'
import { EmptyState } from '../components/list/empty-state.tsx'
import { useMessages } from '../lib/i18n.tsx'
import { useSession } from '../lib/session.tsx'
import { messages } from './messages.ts'

export function NoAccount() {
  const t = useMessages(messages)
  const { session } = useSession()
  const action = session.user.operator ? (
    <ButtonLink to="/operator/accounts">{t('toAccounts')}</ButtonLink>
  ) : undefined
  return (
    <EmptyState icon="users" title={t('noAccountTitle')} action={action}>
      {t(session.user.operator ? 'noAccountOperator' : 'noAccountText')}
    </EmptyState>
  )
}
