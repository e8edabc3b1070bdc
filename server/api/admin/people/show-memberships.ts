/** Returns memberships with the field names of the admin API. */
import type { Session } from '../../sign-in/sessions/session.ts'

export function showMemberships(memberships: Session['memberships']) {
  return memberships.map(({ accountId, accountName, role }) => {
    return { account_id: accountId, account_name: accountName, role }
  })
}
