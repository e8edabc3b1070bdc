/**
 * The SQL of the copy queue. A claim moves the due time to the end of its lease and raises the
 * fencing token; every write names the token. All times are the database's.
 */
import type { Sql, TransactionSql } from 'postgres'

export interface ClaimedCopy {
  readonly id: string
  readonly account_id: string
  readonly source_url: string
  readonly fence: bigint
  /** The number of this attempt, from 1. */
  readonly attempts: number
  /** Time until the vendor's link expires; negative afterwards. */
  readonly expires_in_ms: number
}

/** Rows at the head of the queue among which accounts take turns. */
const WINDOW = 500

export interface CopiesToClaim {
  readonly limit: number
  readonly leaseMs: number
  /** Only copies that have been due for so long. */
  readonly overdueMs: number
}

/** Claims due copies: accounts take turns, in random order. */
export function claimCopies(
  sql: Sql,
  { limit, leaseMs, overdueMs }: CopiesToClaim,
): Promise<ClaimedCopy[]> {
  return sql<ClaimedCopy[]>`
    with due as (
      select id, account_id, due_at from asset
      where due_at <= now() - ${overdueMs}::float8 * interval '1 millisecond'
      order by due_at limit ${WINDOW}),
    ranked as (
      select id, row_number() over (partition by account_id order by due_at) as turn from due),
    chosen as (select id from ranked order by turn, random() limit ${limit}),
    locked as (
      select id from asset where id in (select id from chosen) and due_at <= now()
      for update skip locked)
    update asset a set fence = a.fence + 1, attempts = a.attempts + 1,
      due_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
    from locked where a.id = locked.id
    returning a.id, a.account_id, a.source_url, a.fence, a.attempts,
      extract(epoch from a.source_expires_at - now())::float8 * 1000 as expires_in_ms`
}

type Claim = Pick<ClaimedCopy, 'id' | 'account_id' | 'fence'>

/** Extends the lease. False when it is lost or the asset was deleted. */
export async function renewCopy(sql: Sql, claim: Claim, leaseMs: number): Promise<boolean> {
  const renewed = await sql`
    update asset set due_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
    where id = ${claim.id} and account_id = ${claim.account_id}
      and fence = ${claim.fence.toString()}::bigint and state = 'waiting'`
  return renewed.count === 1
}

/** Returns an unused claim to the queue. */
export async function releaseCopy(sql: Sql, claim: Claim): Promise<void> {
  await sql`
    update asset set due_at = now(), attempts = attempts - 1
    where id = ${claim.id} and account_id = ${claim.account_id}
      and fence = ${claim.fence.toString()}::bigint and state = 'waiting'`
}

export interface Copied {
  readonly storageKey: string
  readonly contentType: string
  readonly bytes: number
  readonly sha256: Buffer
  readonly width: number | undefined
  readonly height: number | undefined
  readonly seconds: number | undefined
}

/** Marks an asset as stored. False when the lease is lost or the asset was deleted. */
export async function storeCopy(
  sql: TransactionSql,
  claim: Claim,
  copied: Copied,
): Promise<boolean> {
  const stored = await sql`
    update asset set state = 'stored', due_at = null, failure = null, stored_at = now(),
      storage_key = ${copied.storageKey}, content_type = ${copied.contentType},
      bytes = ${copied.bytes}, sha256 = ${copied.sha256},
      width = coalesce(${copied.width ?? null}, width),
      height = coalesce(${copied.height ?? null}, height),
      seconds = coalesce(${copied.seconds ?? null}, seconds)
    where id = ${claim.id} and account_id = ${claim.account_id}
      and fence = ${claim.fence.toString()}::bigint and state = 'waiting'`
  return stored.count === 1
}

/** Schedules the next attempt after `dueInMs`, or fails the asset when that is null. */
export async function failCopy(
  sql: Sql,
  claim: Claim,
  failure: string,
  dueInMs: number | null,
): Promise<void> {
  await sql`
    update asset set failure = ${failure.slice(0, 500)},
      state = case when ${dueInMs}::float8 is null then 'failed' else 'waiting' end,
      due_at = now() + ${dueInMs}::float8 * interval '1 millisecond'
    where id = ${claim.id} and account_id = ${claim.account_id}
      and fence = ${claim.fence.toString()}::bigint and state = 'waiting'`
}

/** Returns the milliseconds until the next copy is due, or null when the queue is empty. */
export async function readNextCopyMs(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ wait_ms: number | null }[]>`
    select extract(epoch from min(due_at) - now())::float8 * 1000 as wait_ms
    from asset where due_at is not null`
  return row?.wait_ms ?? null
}

/** Makes up to `limit` copies due in a minute that are due in over `seconds`. */
export async function hurryCopies(sql: Sql, seconds: number, limit: number): Promise<number> {
  const hurried = await sql`
    with late as materialized (
      select id from asset where due_at > now() + ${seconds}::float8 * interval '1 second'
      order by due_at limit ${limit} for update skip locked)
    update asset a set due_at = now() + interval '1 minute' from late where a.id = late.id`
  return hurried.count
}
