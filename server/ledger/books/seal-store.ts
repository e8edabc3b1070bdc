/** The statements of the sealer: what may be sealed, and the sealing itself. */
import type { Sql } from 'postgres'

export interface Observation {
  /** The last entry id that was given out when this was observed; 0 when there is none. */
  readonly bound: bigint
  /** The transactions that may still commit an entry with an id up to `bound`. */
  readonly writers: readonly string[]
  /** Changes when the database was started again or the table was made anew. */
  readonly place: string
}

/**
 * The bound is read first: whoever was given an id up to it holds the lock that an insert takes, or
 * has ended. Both take two statements, because one may read them in any order.
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

/** Writes one block at most. Null: somebody else is sealing. 0: nothing is left up to `bound`. */
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

/** The newest block; undefined when nothing was sealed yet. */
export async function selectHead(sql: Sql): Promise<HeadRow | undefined> {
  const [row] = await sql<HeadRow[]>`
    select number, hash, upto_id, entries_total, totals, sealed_at
    from ledger_block order by number desc limit 1`
  return row
}

/** Hashes of some blocks, in the order of their numbers. */
export async function selectHashes(sql: Sql, numbers: readonly bigint[]) {
  return await sql<{ number: bigint; hash: Buffer }[]>`
    select number, hash from ledger_block
    where number = any (${numbers.map(String)}::bigint[]) order by number`
}
