/** SQL of archives. */
import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres'
import type { WrittenObject } from './objects.ts'
import { type ArchivePeriod, firstDayOf, type PeriodKind } from './periods.ts'

type AnySql = Sql | TransactionSql

/** Returns the name of a row of `archive` as an expression. */
function nameOf(sql: AnySql, table: string): PendingQuery<Row[]> {
  return sql`to_char(${sql(`${table}.month`)},
    case when ${sql(`${table}.until`)} is null then 'YYYY-MM' else 'YYYY-MM-DD' end)`
}

export interface ArchiveRow {
  readonly kind: PeriodKind
  /** The name of the period. */
  readonly name: string
  readonly after_id: string
  readonly end_id: string
  readonly begun_at: Date
  /** Null while rows of the period may still be in the database. */
  readonly finished_at: Date | null
  readonly manifest_key: string | null
  readonly manifest_sha256: Buffer | null
  readonly objects: number
  readonly holds: bigint
  readonly entries: bigint
  readonly bytes: bigint
}

/** Lists archived periods, the oldest first. */
export async function selectArchives(sql: AnySql, name?: string): Promise<ArchiveRow[]> {
  return await sql<ArchiveRow[]>`
    select n.kind, n.name, a.after_id, a.end_id, a.begun_at, a.finished_at, a.manifest_key,
      a.manifest_sha256, o.objects, o.holds, o.entries, o.bytes
    from archive a cross join lateral (
      select case when a.until is null then 'month' else 'week' end as kind,
        ${nameOf(sql, 'a')} as name) n
    cross join lateral (
      select count(*)::int as objects, coalesce(sum(holds), 0)::bigint as holds,
        coalesce(sum(entries), 0)::bigint as entries, coalesce(sum(bytes), 0)::bigint as bytes
      from archive_object where archive_object.month = a.month) o
    where ${name === undefined ? sql`true` : sql`n.name = ${name}`}
    order by a.month`
}

export interface ObjectRow {
  readonly storage_key: string
  readonly first_id: string
  readonly last_id: string
  readonly holds: number
  readonly entries: number
  readonly bytes: bigint
  readonly sha256: Buffer
  readonly content_sha256: Buffer
  readonly first_block: bigint | null
  readonly last_block: bigint | null
}

/** Lists the objects of a period in the order of ids, or those of all periods. */
export async function selectObjects(sql: AnySql, name?: string): Promise<ObjectRow[]> {
  return await sql<ObjectRow[]>`
    select storage_key, first_id, last_id, holds, entries, bytes, sha256, content_sha256,
      first_block, last_block
    from archive_object
    where ${name === undefined ? sql`true` : sql`month = ${firstDayOf(name)}::date`}
    order by month, first_id`
}

/** Returns the objects that may have a hold. */
export async function selectObjectsOfHold(sql: AnySql, holdId: string): Promise<ObjectRow[]> {
  return await sql<ObjectRow[]>`
    select storage_key, first_id, last_id, holds, entries, bytes, sha256, content_sha256,
      first_block, last_block
    from archive_object where ${holdId} between first_id and last_id`
}

export interface SumRow {
  readonly account_id: string
  readonly currency: string
  readonly source: string
  readonly destination: string
  readonly entries: bigint
  readonly amount: bigint
}

/** Returns what the archived entries of a period moved. */
export async function selectSums(sql: AnySql, name: string): Promise<SumRow[]> {
  return await sql<SumRow[]>`
    select account_id, currency, source, destination, entries, amount from archived_sum
    where month = ${firstDayOf(name)}::date
    order by account_id, currency, source, destination`
}

/** Returns the lowest id of a hold with a time, and the database's clock. */
export async function readFirstHold(sql: Sql): Promise<{ first: string | null; now: Date }> {
  const [row] = await sql<{ first: string | null; now: Date }[]>`
    select (select id from hold where id > 'hold_0' order by id limit 1) as first, now() as now`
  return row ?? { first: null, now: new Date() }
}

/** Returns how many holds of a period are in the database, and how many of them are open. */
export async function countHolds(sql: Sql, period: ArchivePeriod) {
  const [row] = await sql<{ holds: bigint; open: bigint }[]>`
    select count(*) as holds,
      count(*) filter (where state = 'open' or closed_at > now() - interval '7 days') as open
    from hold where id > ${period.afterId} and id < ${period.endId}`
  return { holds: row?.holds ?? 0n, open: row?.open ?? 0n }
}

/** Records that a period is being archived. Returns the name of another with the same first day. */
export async function beginArchive(sql: Sql, period: ArchivePeriod): Promise<string | undefined> {
  const { kind, name, afterId, endId, end } = period
  const until = kind === 'week' ? end.toISOString().slice(0, 10) : null
  await sql`
    insert into archive (month, until, after_id, end_id)
    values (${firstDayOf(name)}::date, ${until}::date, ${afterId}, ${endId})
    on conflict (month) do nothing`
  const [begun] = await sql<{ name: string }[]>`
    select ${nameOf(sql, 'a')} as name from archive a where a.month = ${firstDayOf(name)}::date`
  return begun && begun.name !== name ? begun.name : undefined
}

export type RemoveVerdict =
  | 'removed'
  | 'changed'
  | 'open'
  | 'unexplained'
  | 'uncounted'
  | 'unbalanced'
  | 'unsealed'
  | 'altered'

export interface RemovedRange {
  /** The name of the period. */
  readonly name: string
  readonly after: string
  readonly upto: string
  readonly version: string
}

/** Removes the rows of an object and adds their sums; see archive_clear. */
export async function removeRows(
  transaction: TransactionSql,
  range: RemovedRange,
  object: WrittenObject,
): Promise<RemoveVerdict> {
  const [row] = await transaction<{ verdict: RemoveVerdict }[]>`
    select archive_clear(${firstDayOf(range.name)}::date, ${range.after}, ${range.upto},
      ${range.version}, ${object.content_sha256}, ${object.storage_key}, ${object.bytes},
      ${object.sha256}) as verdict`
  return row?.verdict ?? 'changed'
}

/** Records the manifest. Returns the key of an earlier one. */
export async function finishArchive(
  transaction: TransactionSql,
  name: string,
  manifest: { readonly key: string; readonly sha256: Buffer },
): Promise<string | null> {
  const day = firstDayOf(name)
  const [earlier] = await transaction<{ manifest_key: string | null }[]>`
    select manifest_key from archive where month = ${day}::date for update`
  await transaction`
    update archive set finished_at = clock_timestamp(), manifest_key = ${manifest.key},
      manifest_sha256 = ${manifest.sha256}
    where month = ${day}::date`
  return earlier?.manifest_key ?? null
}

/** Returns those of the entries whose digests are not the ones that were sealed. */
export async function selectUnmarked(
  sql: AnySql,
  entries: readonly { readonly id: bigint; readonly digest: Buffer }[],
): Promise<bigint[]> {
  const ids = entries.map(({ id }) => id.toString())
  const digests = entries.map(({ digest }) => `\\x${digest.toString('hex')}`)
  const rows = await sql<{ id: bigint }[]>`
    select id from ledger_unmarked(${ids}::bigint[], ${digests}::text[]::bytea[]) as u(id)
    order by id limit 20`
  return rows.map(({ id }) => id)
}

/** A batch of a busy period takes longer than the statements of a gateway may. */
export async function withoutTimeout<T>(
  sql: Sql,
  work: (transaction: TransactionSql) => Promise<T>,
): Promise<T> {
  const outcome = await sql.begin(async (transaction) => {
    await liftTimeout(transaction)
    return { value: await work(transaction) }
  })
  return outcome.value
}

export async function liftTimeout(transaction: TransactionSql): Promise<void> {
  await transaction`set local statement_timeout = '30min'`
}
