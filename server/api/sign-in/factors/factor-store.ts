/** SQL of second factors: authenticator secrets and recovery codes. */
import type { Sql, TransactionSql } from 'postgres'

export async function putPendingTotp(sql: Sql, personId: string, sealed: Buffer): Promise<void> {
  await sql`update person set totp_pending = ${sealed} where id = ${personId}`
}

/**
 * Stores a confirmed secret in place of an older one, and the step of its first code as used.
 * Returns false if no secret waits to be confirmed.
 */
export async function storeConfirmedTotp(
  sql: TransactionSql,
  personId: string,
  sealed: Buffer,
  step: number,
): Promise<boolean> {
  const updated = await sql`
    update person set totp_secret = ${sealed}, totp_pending = null, totp_last_step = ${step}
    where id = ${personId} and totp_pending is not null`
  return updated.count > 0
}

export async function deleteTotp(sql: TransactionSql, personId: string): Promise<void> {
  await sql`
    update person set totp_secret = null, totp_pending = null where id = ${personId}`
}

/** Returns false if this code or a later one was already used. */
export async function consumeTotpStep(sql: Sql, personId: string, step: number): Promise<boolean> {
  const updated = await sql`
    update person set totp_last_step = ${step}
    where id = ${personId} and totp_last_step < ${step}`
  return updated.count > 0
}

/** Replaces all recovery codes of a person whose row the transaction has locked. */
export async function replaceRecoveryCodes(
  sql: TransactionSql,
  personId: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await sql`delete from recovery_code where person_id = ${personId}`
  for (const hash of hashes) {
    await sql`insert into recovery_code (person_id, code_hash) values (${personId}, ${hash})`
  }
}

/** Returns false if the code does not exist or was already used. */
export async function consumeRecoveryCode(
  sql: Sql,
  personId: string,
  hash: Buffer,
): Promise<boolean> {
  const deleted = await sql`
    delete from recovery_code where person_id = ${personId} and code_hash = ${hash}`
  return deleted.count > 0
}

export async function countRecoveryCodes(sql: Sql, personId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from recovery_code where person_id = ${personId}`
  return row?.count ?? 0
}

export interface SealedTotp {
  readonly id: string
  readonly totp_secret: Buffer | null
  readonly totp_pending: Buffer | null
}

/** Locks and returns everything sealed, for resealing with a new SECRET_KEY. */
export function lockSealedTotp(sql: TransactionSql): Promise<SealedTotp[]> {
  return sql<SealedTotp[]>`
    select id, totp_secret, totp_pending from person
    where totp_secret is not null or totp_pending is not null order by id for update`
}

export async function resealTotp(sql: TransactionSql, row: SealedTotp): Promise<void> {
  await sql`
    update person set totp_secret = ${row.totp_secret}, totp_pending = ${row.totp_pending}
    where id = ${row.id}`
}
