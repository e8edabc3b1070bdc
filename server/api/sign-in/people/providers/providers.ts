/** The providers that people sign in with: one by environment variables, others by operators. */
import type { Sql, TransactionSql } from 'postgres'
import { withTransaction } from '../../../../base/database/transaction.ts'
import { newId } from '../../../../base/lib/ids.ts'
import { OperatorError } from '../../../../base/lib/operator-error.ts'
import {
  reseal,
  type SecretBox,
  SecretError,
  sealedWith,
} from '../../../../base/lib/secrets/secrets.ts'
import { readRules } from '../../claim-rules.ts'
import type { SignInParts } from '../../parts.ts'
import type { Provider } from '../../provider.ts'
import {
  deleteProvider,
  insertProvider,
  lockProvider,
  lockSecrets,
  type ProviderRow,
  type ProviderValues,
  resealSecret,
  selectProviders,
  updateProvider,
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

/** Returns an enabled provider that can be used. */
export async function findProvider(parts: Parts, id: string): Promise<Provider | undefined> {
  return (await listProviders(parts)).find((one) => one.id === id && one.problem === undefined)
}

/** Returns a stored provider with its secret, or with the reason why SECRET_KEY cannot open it. */
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
    ...(row.client_secret ? openSecret(row.client_secret, contextOf(id), secrets) : {}),
  }
}

function openSecret(
  sealed: Buffer,
  context: string,
  secrets: SecretBox,
): Pick<Provider, 'clientSecret' | 'problem'> {
  try {
    return { clientSecret: secrets.open(sealed, context) }
  } catch (error) {
    if (!(error instanceof SecretError)) throw error
    return { problem: `its client secret: ${error.message}` }
  }
}

export interface ProviderDraft {
  readonly name: string
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | null
  readonly scopes: string
  readonly rules: unknown
  readonly trustsEmail: boolean
  readonly disabled: boolean
}

/** Members that are undefined stay unchanged. */
type ProviderChange = { readonly [Name in keyof ProviderDraft]: ProviderDraft[Name] | undefined }

/** Creates a provider. Throws OperatorError. */
export async function createProvider(parts: Parts, draft: ProviderDraft): Promise<ProviderRow> {
  const id = newId('idp')
  const { clientSecret, ...rest } = draft
  const secret = clientSecret === null ? null : parts.secrets.seal(clientSecret, contextOf(id))
  const values = checkProvider(parts, id, { ...rest, client_secret: secret })
  return await withTransaction(parts.sql, async (transaction) => {
    await insertProvider(transaction, values)
    return await readBack(transaction, id)
  })
}

/**
 * Changes a provider based on its state when the change is written, so that no concurrent change is
 * lost. Returns undefined if there is none. Throws OperatorError.
 */
export function changeProvider(
  parts: Parts,
  id: string,
  change: ProviderChange,
): Promise<ProviderRow | undefined> {
  return withTransaction(parts.sql, async (transaction) => {
    const stored = await lockProvider(transaction, id)
    if (!stored) return undefined
    const { clientSecret } = change
    const values = checkProvider(parts, id, {
      name: change.name ?? stored.name,
      issuer: change.issuer ?? stored.issuer,
      clientId: change.clientId ?? stored.client_id,
      client_secret: clientSecret
        ? parts.secrets.seal(clientSecret, contextOf(id))
        : clientSecret === null
          ? null
          : stored.client_secret,
      scopes: change.scopes ?? stored.scopes,
      rules: change.rules ?? stored.rules,
      trustsEmail: change.trustsEmail ?? stored.trusts_email,
      disabled: change.disabled ?? stored.disabled_at !== null,
    })
    await updateProvider(transaction, values)
    return await readBack(transaction, id)
  })
}

/** Throws OperatorError. */
function checkProvider(
  { oidc }: Parts,
  id: string,
  draft: Omit<ProviderDraft, 'clientSecret'> & Pick<ProviderRow, 'client_secret'>,
): ProviderValues {
  const { clientId, trustsEmail, ...rest } = draft
  const refusal = oidc?.refuseIssuer(draft.issuer)
  if (refusal !== undefined) throw new OperatorError(`issuer: ${refusal}`)
  const rules = readRules(draft.rules)
  if ('problem' in rules) throw new OperatorError(`rules: ${rules.problem}`)
  if (!draft.scopes.split(' ').includes('openid')) {
    throw new OperatorError('scopes: must include openid')
  }
  return { ...rest, id, rules, client_id: clientId, trusts_email: trustsEmail }
}

/** Reads a provider that this transaction has written. */
async function readBack(transaction: TransactionSql, id: string): Promise<ProviderRow> {
  const row = await lockProvider(transaction, id)
  if (!row) throw new Error(`the provider ${id} is gone within its own transaction`)
  return row
}

/** Deletes a provider and ends the sessions that it opened. Returns false if there is none. */
export function removeProvider(sql: Sql, id: string): Promise<boolean> {
  return withTransaction(sql, (transaction) => deleteProvider(transaction, id))
}

/** Reseals the secrets of all clients with the newest key, all or none. */
export async function rekeyProviders(
  transaction: TransactionSql,
  box: SecretBox,
  dropsLost = false,
) {
  const rows = await lockSecrets(transaction)
  const old = rows.filter((row) => sealedWith(row.client_secret) !== box.keyId)
  let dropped = 0
  for (const { id, client_secret: sealed } of old) {
    const again = reseal(box, sealed, contextOf(id), dropsLost)
    if (!again) dropped += 1
    await resealSecret(transaction, id, again)
  }
  return { changed: old.length - dropped, kept: rows.length - old.length, dropped }
}

function contextOf(id: string): string {
  return `identity_provider:${id}`
}
