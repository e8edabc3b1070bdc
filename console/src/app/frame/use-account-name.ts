/** Name of the account that is shown: a link names it by its id alone. */
import { useSession } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'

/** '' where no account is selected. */
export function useAccountName(): string {
  const { account } = useSession()
  const { data } = useAdmin(
    'GET /accounts/:account_id',
    { params: { account_id: account?.id ?? '' } },
    { enabled: account?.isForeign ?? false },
  )
  return data?.name ?? account?.name ?? ''
}
