/** A person's own identities at providers. */
import { withTransaction } from '../../../../base/database/transaction.ts'
import { GatewayError } from '../../../../base/lib/errors.ts'
import type { Exchange, SignInParts } from '../../parts.ts'
import { canSignIn } from '../../person-store.ts'
import { noWayIn } from '../../refusals.ts'
import type { Session } from '../../sessions/session.ts'
import { renewSession } from '../../sessions/sessions.ts'
import { deleteIdentity, selectIdentities } from './provider-store.ts'
import { listProviders } from './providers.ts'

export async function listLinked(parts: SignInParts, personId: string) {
  const names = new Map((await listProviders(parts)).map(({ id, name }) => [id, name]))
  const rows = await selectIdentities(parts.sql, personId)
  return rows.map(({ provider_id: provider, issuer, ...row }) => {
    return { ...row, provider, name: names.get(provider) ?? issuer }
  })
}

/**
 * Unlinks a person's identities at a provider, and ends their other sessions. Throws 404, and 409
 * for one without another way to sign in.
 */
export async function unlink(
  parts: SignInParts,
  session: Session,
  providerId: string,
  exchange: Exchange,
): Promise<void> {
  const { id } = session.user
  await withTransaction(parts.sql, async (transaction) => {
    if (!(await deleteIdentity(transaction, id, providerId))) {
      throw new GatewayError('not_found', { message: 'no such identity' })
    }
    if (!(await canSignIn(transaction, id))) throw noWayIn('add a passkey first')
  })
  await renewSession(parts, session, exchange)
}
