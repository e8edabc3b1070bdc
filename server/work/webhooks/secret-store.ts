/** The SQL of webhook secrets, sealed: per account one current and at most one previous. */
import type { Sql, TransactionSql } from 'postgres'

export interface SecretRow {
  readonly current: Buffer | null
  readonly previous: Buffer | null
  /** End of the overlap; null once it is over. */
  readonly previous_until: Date | null
}

export interface SealedAccountRow {
  readonly account_id: string
  readonly current: Buffer | null
  readonly previous: Buffer | null
}

export async function readSecret(sql: Sql, accountId: string): Promise<SecretRow | undefined> {
  const [row] = await sql<SecretRow[]>`
    select webhook_secret as current,
      case when webhook_secret_previous_until > now() then webhook_secret_previous end as previous,
      case when webhook_secret_previous_until > now()
        then webhook_secret_previous_until end as previous_until
    from account where id = ${accountId}`
  return row
}

/** Stores a first secret. Of two concurrent ones, the first committed is kept. */
export async function createSecret(sql: Sql, accountId: string, sealed: Buffer): Promise<void> {
  await sql`
    update account set webhook_secret = ${sealed}
    where id = ${accountId} and webhook_secret is null`
}

/** Replaces the current secret, which becomes the previous one. False for an unknown account. */
export async function replaceSecret(
  sql: Sql,
  accountId: string,
  sealed: Buffer,
  overlapSeconds: number,
): Promise<boolean> {
  const updated = await sql`
    update account set webhook_secret_previous = webhook_secret,
      webhook_secret_previous_until = now() + make_interval(secs => ${overlapSeconds}),
      webhook_secret = ${sealed}
    where id = ${accountId}`
  return updated.count > 0
}

/** Locks and returns every sealed secret, for a change of SECRET_KEY. */
export function lockSealed(transaction: TransactionSql): Promise<SealedAccountRow[]> {
  return transaction<SealedAccountRow[]>`
    select id as account_id, webhook_secret as current, webhook_secret_previous as previous
    from account where webhook_secret is not null order by id for update`
}

export async function resealSecrets(
  transaction: TransactionSql,
  row: SealedAccountRow,
): Promise<void> {
  await transaction`
    update account set webhook_secret = ${row.current}, webhook_secret_previous = ${row.previous},
      webhook_secret_previous_until = case when ${row.previous !== null}
        then webhook_secret_previous_until end
    where id = ${row.account_id}`
}
