/** SQL of the signing keys and of the checkpoints. */
import type { Sql, TransactionSql } from 'postgres'

export interface SigningKeyRow {
  readonly id: string
  readonly public_key: Buffer
  readonly private_key: Buffer
}

/** Returns the newest key, or undefined if there is none. */
export async function selectKey(sql: Sql | TransactionSql): Promise<SigningKeyRow | undefined> {
  const [row] = await sql<SigningKeyRow[]>`
    select id, public_key, private_key from ledger_signing_key
    order by created_at desc, id limit 1`
  return row
}

/** Inserts the key unless one exists. Returns the stored key. */
export async function insertKeyOnce(sql: Sql, key: SigningKeyRow): Promise<SigningKeyRow> {
  return await sql.begin(async (transaction) => {
    await transaction`lock table ledger_signing_key in exclusive mode`
    const found = await selectKey(transaction)
    if (found) return found
    await transaction`
      insert into ledger_signing_key (id, public_key, private_key)
      values (${key.id}, ${key.public_key}, ${key.private_key})`
    return key
  })
}

export async function lockKeys(transaction: TransactionSql): Promise<SigningKeyRow[]> {
  return await transaction<SigningKeyRow[]>`
    select id, public_key, private_key from ledger_signing_key for update`
}

export async function replacePrivateKey(
  transaction: TransactionSql,
  id: string,
  privateKey: Buffer,
): Promise<void> {
  await transaction`update ledger_signing_key set private_key = ${privateKey} where id = ${id}`
}

export async function readDatabaseTime(sql: Sql): Promise<Date> {
  const [row] = await sql<{ at: Date }[]>`select clock_timestamp() as at`
  return row?.at ?? new Date()
}

export interface BooksCheckpointRow {
  readonly block: bigint
  readonly created_at: Date
  readonly key_id: string
  readonly statement: string
}

export async function insertCheckpoint(
  sql: Sql,
  row: BooksCheckpointRow & { readonly signature: Buffer },
): Promise<void> {
  await sql`
    insert into ledger_checkpoint (block, created_at, statement, signature, key_id)
    values (${row.block.toString()}::bigint, ${row.created_at}, ${row.statement},
      ${row.signature}, ${row.key_id})`
}

/** Returns the newest checkpoint, or undefined if there is none. */
export async function selectLastCheckpoint(sql: Sql): Promise<BooksCheckpointRow | undefined> {
  const [row] = await sql<BooksCheckpointRow[]>`
    select block, created_at, key_id, statement from ledger_checkpoint order by id desc limit 1`
  return row
}
