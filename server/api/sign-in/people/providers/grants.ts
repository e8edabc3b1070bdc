/** Grants people the roles that a provider's rules name, and revokes those no longer named. */
import type { TransactionSql } from 'postgres'
import { writeAudit } from '../../audit-log/audit-log.ts'
import type { Grant } from '../../claim-rules.ts'
import { deleteSessions } from '../../sessions/session-store.ts'
import { deleteInvitationsOf } from '../link-store.ts'
import { endMembership, setRole } from '../people.ts'
import { findAccounts, selectGrants, setOperatorBy } from './grant-store.ts'

interface Granted {
  readonly personId: string
  readonly email: string
  readonly providerId: string
}

/** Roles that were given by hand, or by another provider, stay as they are. */
export async function applyGrant(
  transaction: TransactionSql,
  to: Granted,
  grant: Grant,
): Promise<void> {
  const { personId, providerId } = to
  const { isOperator, operatorBy, memberships } = await selectGrants(transaction, personId)
  const held = memberships.filter(({ granted_by: by }) => by === providerId)
  const heldIds = held.map(({ account_id: id }) => id)
  const named = await findAccounts(transaction, grant.accounts, heldIds)
  const changes: string[] = []
  for (const accountId of heldIds) {
    if (named.includes(accountId)) continue
    await endMembership(transaction, accountId, { person_id: personId, email: to.email })
    changes.push(`- ${accountId}`)
  }
  for (const accountId of named) {
    const own = memberships.find((one) => one.account_id === accountId)
    if (own && (own.granted_by !== providerId || own.role === grant.role)) continue
    const membership = { personId, accountId, role: grant.role, grantedBy: providerId }
    await setRole(transaction, membership)
    changes.push(`${accountId} ${grant.role}`)
  }
  if (grant.operator && !isOperator) {
    await setOperatorBy(transaction, personId, providerId)
    changes.push('operator')
  }
  if (!grant.operator && isOperator && operatorBy === providerId) {
    await setOperatorBy(transaction, personId, null)
    await deleteInvitationsOf(transaction, personId)
    await deleteSessions(transaction, personId)
    changes.push('- operator')
  }
  if (changes.length > 0) await record(transaction, to, changes)
}

function record(
  transaction: TransactionSql,
  { personId, providerId }: Granted,
  changes: readonly string[],
): Promise<void> {
  const details = { provider: providerId, changes: changes.join(', ').slice(0, 1000) }
  return writeAudit(transaction, {
    actor: personId,
    action: 'roles by rules',
    target: personId,
    details,
  })
}
