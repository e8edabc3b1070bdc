/** SQL of OpenID Connect providers, of people's identities there, and of sign-ins under way. */
import type { Sql, TransactionSql } from 'postgres'
import type { RoleRule } from '../../claim-rules.ts'

export interface ProviderRow {
  readonly id: string
  readonly name: string
  readonly issuer: string
  readonly client_id: string
  readonly client_secret: Buffer | null
  readonly scopes: string
  readonly rules: readonly RoleRule[]
  readonly trusts_email: boolean
  readonly disabled_at: Date | null
  readonly created_at: Date
}

export function selectProviders(sql: Sql, id?: string): Promise<ProviderRow[]> {
  return sql<ProviderRow[]>`
    select id, name, issuer, client_id, client_secret, scopes, rules, trusts_email, disabled_at,
      created_at
    from identity_provider ${id === undefined ? sql`` : sql`where id = ${id}`}
    order by created_at, id limit 100`
}

/** Locks a provider until the transaction ends. */
export async function lockProvider(
  sql: TransactionSql,
  id: string,
): Promise<ProviderRow | undefined> {
  const [row] = await sql<ProviderRow[]>`
    select id, name, issuer, client_id, client_secret, scopes, rules, trusts_email, disabled_at,
      created_at
    from identity_provider where id = ${id} for update`
  return row
}

export type ProviderValues = Omit<ProviderRow, 'created_at' | 'disabled_at'> & {
  readonly disabled: boolean
}

const disabledAt = (sql: TransactionSql, { disabled }: ProviderValues) =>
  disabled ? sql`now()` : sql`null::timestamptz`

export async function insertProvider(sql: TransactionSql, row: ProviderValues): Promise<void> {
  await sql`
    insert into identity_provider (id, name, issuer, client_id, client_secret, scopes, rules,
      trusts_email, disabled_at)
    values (${row.id}, ${row.name}, ${row.issuer}, ${row.client_id}, ${row.client_secret},
      ${row.scopes}, ${JSON.stringify(row.rules)}::text::jsonb, ${row.trusts_email},
      ${disabledAt(sql, row)})`
}

export async function updateProvider(sql: TransactionSql, row: ProviderValues): Promise<void> {
  await sql`
    update identity_provider set name = ${row.name}, issuer = ${row.issuer},
      client_id = ${row.client_id}, client_secret = ${row.client_secret}, scopes = ${row.scopes},
      rules = ${JSON.stringify(row.rules)}::text::jsonb, trusts_email = ${row.trusts_email},
      disabled_at = ${disabledAt(sql, row)}
    where id = ${row.id}`
}

/** Deletes a provider and ends the sessions that it opened. Returns false if there is none. */
export async function deleteProvider(sql: TransactionSql, id: string): Promise<boolean> {
  await sql`delete from console_session where provider_id = ${id}`
  const deleted = await sql`delete from identity_provider where id = ${id}`
  return deleted.count > 0
}

/** Locks the sealed secrets of all providers. */
export function lockSecrets(
  sql: TransactionSql,
): Promise<{ readonly id: string; readonly client_secret: Buffer }[]> {
  return sql<{ id: string; client_secret: Buffer }[]>`
    select id, client_secret from identity_provider where client_secret is not null for update`
}

export async function resealSecret(
  sql: TransactionSql,
  id: string,
  sealed: Buffer | null,
): Promise<void> {
  await sql`update identity_provider set client_secret = ${sealed} where id = ${id}`
}

export interface IdentityRow {
  readonly issuer: string
  readonly subject: string
  readonly person_id: string
  readonly provider_id: string
  readonly email: string
  readonly created_at: Date
  readonly used_at: Date | null
}

/** Returns the person of an identity, and notes its use. */
export async function readIdentity(
  sql: Sql | TransactionSql,
  issuer: string,
  subject: string,
): Promise<string | undefined> {
  const [row] = await sql<{ person_id: string }[]>`
    update person_identity set used_at = now() where issuer = ${issuer} and subject = ${subject}
    returning person_id`
  return row?.person_id
}

/** Returns false if the identity is somebody's. */
export async function insertIdentity(
  sql: TransactionSql,
  identity: Omit<IdentityRow, 'created_at' | 'used_at'>,
): Promise<boolean> {
  const inserted = await sql`
    insert into person_identity (issuer, subject, person_id, provider_id, email, used_at)
    values (${identity.issuer}, ${identity.subject}, ${identity.person_id},
      ${identity.provider_id}, ${identity.email}, now())
    on conflict do nothing`
  return inserted.count > 0
}

export function selectIdentities(sql: Sql | TransactionSql, personId: string) {
  return sql<IdentityRow[]>`
    select issuer, subject, person_id, provider_id, email, created_at, used_at
    from person_identity where person_id = ${personId} order by created_at, issuer, subject`
}

/** Returns false if the person has no such identity. */
export async function deleteIdentity(
  sql: TransactionSql,
  personId: string,
  providerId: string,
): Promise<boolean> {
  const deleted = await sql`
    delete from person_identity where person_id = ${personId} and provider_id = ${providerId}`
  return deleted.count > 0
}

export type Intent = 'sign_in' | 'link' | 'step_up' | 'invitation'

export interface ProviderStep {
  readonly provider_id: string
  readonly intent: Intent
  readonly session_id: string | null
  readonly link_id: string | null
  readonly return_to: string
  /** The terms that were accepted before. */
  readonly terms: string | null
}

const STEP_SECONDS = 600

/** Also deletes expired rows. */
export async function insertProviderStep(
  sql: Sql,
  step: ProviderStep & { readonly tokenHash: Buffer },
): Promise<void> {
  await sql`delete from provider_step where expires_at < now()`
  await sql`
    insert into provider_step (token_hash, provider_id, intent, session_id, link_id, return_to,
      terms, expires_at)
    values (${step.tokenHash}, ${step.provider_id}, ${step.intent}, ${step.session_id},
      ${step.link_id}, ${step.return_to}, ${step.terms},
      now() + make_interval(secs => ${STEP_SECONDS}))`
}

/** Deletes the step and returns it: a browser returns once. */
export async function takeProviderStep(
  sql: Sql,
  tokenHash: Buffer,
): Promise<ProviderStep | undefined> {
  const [row] = await sql<ProviderStep[]>`
    with taken as (delete from provider_step where token_hash = ${tokenHash} returning *)
    select provider_id, intent, session_id, link_id, return_to, terms from taken
    where expires_at > now()`
  return row
}
