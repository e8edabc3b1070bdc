/** SQL of the sealer. */
import type { Sql, TransactionSql } from 'postgres'

export interface Observation {
  /** The last entry id allocated at this point; 0 if there is none. */
  readonly bound: bigint
  /** The transactions that may still commit an entry with an id up to `bound`. */
  readonly writers: readonly string[]
  /** Changes if the database restarted or the table was recreated. */
  readonly place: string
}

/**
 * Reads the bound first: any transaction with an id up to it then holds the lock that an insert
 * takes, or has ended. Two statements are needed, since one does not fix the order.
 */
export async function observeWriters(sql: Sql): Promise<Observation> {
  const [sequence] = await sql<{ bound: bigint }[]>`
    select case when is_called then last_value else 0 end as bound from entry_id_seq`
  const [row] = await sql<{ writers: string[]; place: string }[]>`
    select array(
        select virtualtransaction from pg_locks
        where locktype = 'relation' and mode = 'RowExclusiveLock' and granted
          and relation = 'entry'::regclass
          and database = (select oid from pg_database where datname = current_database())
      ) as writers,
      format('%s %s', pg_postmaster_start_time(), 'entry'::regclass::oid) as place`
  return { bound: sequence?.bound ?? 0n, writers: row?.writers ?? [], place: row?.place ?? '' }
}

/**
 * Writes at most one block. Returns its number of entries, 0 if nothing is left up to `bound`, or
 * null if another process is sealing.
 */
export async function sealBlock(sql: Sql, bound: bigint, idsMax: number): Promise<number | null> {
  const [row] = await sql<{ entries: number | null }[]>`
    select ledger_seal(${bound.toString()}::bigint, ${idsMax}) as entries`
  return row?.entries ?? null
}

export interface HeadRow {
  readonly number: bigint
  readonly hash: Buffer
  readonly upto_id: bigint
  readonly entries_total: bigint
  readonly totals: string
  readonly sealed_at: Date
}

/** Returns the newest block, or undefined if there is none. */
export async function selectHead(sql: Sql | TransactionSql): Promise<HeadRow | undefined> {
  const [row] = await sql<HeadRow[]>`
    select number, hash, upto_id, entries_total, totals, sealed_at
    from ledger_block order by number desc limit 1`
  return row
}

/** Returns the hashes of the given blocks, ordered by number. */
export async function selectHashes(sql: Sql, numbers: readonly bigint[]) {
  return await sql<{ number: bigint; hash: Buffer }[]>`
    select number, hash from ledger_block
    where number = any (${numbers.map(String)}::bigint[]) order by number`
}
