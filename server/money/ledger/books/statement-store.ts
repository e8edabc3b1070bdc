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
    await insertSigningKey(transaction, key)
    return key
  })
}

export async function insertSigningKey(
  transaction: TransactionSql,
  key: SigningKeyRow,
): Promise<void> {
  await transaction`
    insert into ledger_signing_key (id, public_key, private_key)
    values (${key.id}, ${key.public_key}, ${key.private_key})`
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
  readonly signature: Buffer
}

/** A stored checkpoint with its key and its block, each null if absent. */
export interface StoredCheckpointRow extends BooksCheckpointRow {
  readonly id: bigint
  readonly public_key: Buffer | null
  readonly hash: Buffer | null
}

export async function insertCheckpoint(sql: Sql, row: BooksCheckpointRow): Promise<void> {
  await sql`
    insert into ledger_checkpoint (block, created_at, statement, signature, key_id)
    values (${row.block.toString()}::bigint, ${row.created_at}, ${row.statement},
      ${row.signature}, ${row.key_id})`
}

/** Selects the stored checkpoints, the newest first. */
export function selectCheckpoints(sql: Sql | TransactionSql, limit: number | null = null) {
  return sql<StoredCheckpointRow[]>`
    select c.id, c.block, c.created_at, c.key_id, c.statement, c.signature, k.public_key, b.hash
    from ledger_checkpoint c
    left join ledger_signing_key k on k.id = c.key_id
    left join ledger_block b on b.number = c.block
    order by c.id desc limit ${limit}`
}
