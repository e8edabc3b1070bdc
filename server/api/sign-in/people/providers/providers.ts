/** The providers that people sign in with: one by environment variables, others by operators. */
import type { Sql } from 'postgres'
import { withTransaction } from '../../../../base/database/transaction.ts'
import { newId } from '../../../../base/lib/ids.ts'
import { OperatorError } from '../../../../base/lib/operator-error.ts'
import { type SecretBox, sealedWith } from '../../../../base/lib/secrets/secrets.ts'
import { readRules } from '../../claim-rules.ts'
import type { SignInParts } from '../../parts.ts'
import type { Provider } from '../../provider.ts'
import {
  deleteProvider,
  lockSecrets,
  type ProviderRow,
  putProvider,
  resealSecret,
  selectProviders,
} from './provider-store.ts'

type Parts = Pick<SignInParts, 'sql' | 'secrets' | 'oidc'>

/** Lists the enabled providers. */
export async function listProviders({ sql, secrets, oidc }: Parts): Promise<Provider[]> {
  if (!oidc) return []
  const rows = (await selectProviders(sql)).filter((row) => row.disabled_at === null)
  return [
    ...(oidc.provider ? [oidc.provider] : []),
    ...rows.map((row) => describeRow(row, secrets)),
  ]
}

/** Returns an enabled provider. */
export async function findProvider(parts: Parts, id: string): Promise<Provider | undefined> {
  return (await listProviders(parts)).find((provider) => provider.id === id)
}

/** Returns a stored provider with its secret. */
export function describeRow(row: ProviderRow, secrets: SecretBox): Provider {
  const { id, name, issuer, scopes, rules } = row
  return {
    id,
    name,
    issuer,
    scopes,
    rules,
    clientId: row.client_id,
    trustsEmail: row.trusts_email,
    ...(row.client_secret ? { clientSecret: secrets.open(row.client_secret, contextOf(id)) } : {}),
  }
}

export interface ProviderDraft {
  readonly name: string
  readonly issuer: string
  readonly clientId: string
  /** Undefined keeps the stored one. */
  readonly clientSecret: string | null | undefined
  readonly scopes: string
  readonly rules: unknown
  readonly trustsEmail: boolean
  readonly disabled: boolean
}

/** Creates a provider, or replaces the one with this id. Throws OperatorError. */
export async function saveProvider(
  { sql, secrets, oidc }: Parts,
  draft: ProviderDraft,
  before?: ProviderRow,
): Promise<ProviderRow> {
  const refusal = oidc?.refuseIssuer(draft.issuer)
  if (refusal !== undefined) throw new OperatorError(`issuer: ${refusal}`)
  const rules = readRules(draft.rules)
  if ('problem' in rules) throw new OperatorError(`rules: ${rules.problem}`)
  if (!draft.scopes.split(' ').includes('openid')) {
    throw new OperatorError('scopes: must include openid')
  }
  const id = before?.id ?? newId('idp')
  const { clientSecret } = draft
  await putProvider(sql, {
    id,
    name: draft.name,
    issuer: draft.issuer,
    client_id: draft.clientId,
    client_secret:
      clientSecret === undefined
        ? (before?.client_secret ?? null)
        : clientSecret === null
          ? null
          : secrets.seal(clientSecret, contextOf(id)),
    scopes: draft.scopes,
    rules,
    trusts_email: draft.trustsEmail,
    disabled: draft.disabled,
  })
  const [row] = await selectProviders(sql, id)
  if (!row) throw new OperatorError('the provider was deleted meanwhile')
  return row
}

/** Deletes a provider and ends the sessions that it opened. Returns false if there is none. */
export function removeProvider(sql: Sql, id: string): Promise<boolean> {
  return withTransaction(sql, (transaction) => deleteProvider(transaction, id))
}

/** Reseals the secrets of all clients with the newest key, all or none. */
export function rekeyProviders(sql: Sql, box: SecretBox) {
  return sql.begin(async (transaction) => {
    const rows = await lockSecrets(transaction)
    const old = rows.filter((row) => sealedWith(row.client_secret) !== box.keyId)
    for (const { id, client_secret: sealed } of old) {
      const context = contextOf(id)
      await resealSecret(transaction, id, box.seal(box.open(sealed, context), context))
    }
    return { changed: old.length, kept: rows.length - old.length }
  })
}

function contextOf(id: string): string {
  return `identity_provider:${id}`
}
