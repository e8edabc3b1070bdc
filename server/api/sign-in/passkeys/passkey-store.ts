/** SQL of passkeys. */
import type { Sql, TransactionSql } from 'postgres'

export interface PasskeyRow {
  readonly id: string
  readonly person_id: string
  readonly name: string
  readonly credential_id: Buffer
  readonly public_key: Buffer
  readonly sign_count: bigint
  readonly transports: string[]
  readonly backed_up: boolean
  readonly created_at: Date
  readonly used_at: Date | null
}

export function selectPasskeys(sql: Sql | TransactionSql, personId: string): Promise<PasskeyRow[]> {
  return sql<PasskeyRow[]>`
    select * from passkey where person_id = ${personId} order by created_at, id`
}

export async function findPasskey(sql: Sql, credentialId: Buffer): Promise<PasskeyRow | undefined> {
  const [row] = await sql<PasskeyRow[]>`
    select * from passkey where credential_id = ${credentialId}`
  return row
}

/** Returns false if this credential is already registered, for any person. */
export async function insertPasskey(
  sql: Sql | TransactionSql,
  passkey: Omit<PasskeyRow, 'created_at' | 'used_at'>,
): Promise<boolean> {
  const inserted = await sql`
    insert into passkey (id, person_id, name, credential_id, public_key, sign_count, transports,
      backed_up)
    values (${passkey.id}, ${passkey.person_id}, ${passkey.name}, ${passkey.credential_id},
      ${passkey.public_key}, ${passkey.sign_count.toString()}, ${passkey.transports},
      ${passkey.backed_up})
    on conflict do nothing`
  return inserted.count > 0
}

/** Returns false if another use, or a copy of the authenticator, has a higher count. */
export async function notePasskeyUse(
  sql: Sql,
  id: string,
  used: { readonly signCount: number; readonly backedUp: boolean },
): Promise<boolean> {
  const { signCount, backedUp } = used
  const updated = await sql`
    update passkey set sign_count = ${signCount}, backed_up = ${backedUp}, used_at = now()
    where id = ${id} and (sign_count < ${signCount} or (sign_count = 0 and ${signCount} = 0))`
  return updated.count > 0
}

export async function deletePasskey(
  sql: TransactionSql,
  personId: string,
  id: string,
): Promise<boolean> {
  const deleted = await sql`delete from passkey where id = ${id} and person_id = ${personId}`
  return deleted.count > 0
}

export async function deletePasskeys(sql: TransactionSql, personId: string): Promise<void> {
  await sql`delete from passkey where person_id = ${personId}`
}
