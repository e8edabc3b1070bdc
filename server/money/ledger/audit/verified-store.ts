/** SQL of verified weeks. */
import type { Sql, TransactionSql } from 'postgres'
import type { HeadRow } from '../books/seal-store.ts'
import type { Violation } from './audit-store.ts'
import { callsIn, holdsIn, type Scope } from './scope-store.ts'
import type { Week } from './weeks.ts'

/** The longest time that an audit keeps a late settlement waiting. */
const LOCK_TIMEOUT = '2s'
const LIST_LIMIT = 20

/** Returns the database's clock, and whether it accepts writes. */
export async function readPlace(sql: Sql) {
  const [row] = await sql<{ now: Date; writable: boolean }[]>`
    select now() as now, not pg_is_in_recovery()
      and current_setting('transaction_read_only') = 'off' as writable`
  return row ?? { now: new Date(0), writable: false }
}

/** Returns the lowest id of a hold from this one on. */
export async function readNextHold(sql: Sql, from: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id from hold where id >= ${from} order by id limit 1`
  return row?.id
}

/** Lists the weeks that need no verification: verified, and not changed by a late settlement. */
export async function selectSettledWeeks(sql: Sql): Promise<string[]> {
  const rows = await sql<{ week: string }[]>`
    select week::text from verified_week
    where altered_at is not null or (verified_at is not null and changed_at is null)`
  return rows.map(({ week }) => week)
}

/** Forgets weeks whose calls are all archived. */
export async function forgetArchived(sql: Sql): Promise<void> {
  await sql`
    delete from verified_week w where changed_at is not null and not exists (
      select from hold h where h.id >= w.start_id and h.id < w.end_id)`
}

/** Marks weeks as being verified by `run`: from now on, changes of their calls are noted. */
export async function beginWeeks(sql: Sql, weeks: readonly Week[], run: string): Promise<void> {
  await sql.begin(async (transaction) => {
    const names = weeks.map(({ name }) => name)
    await transaction`delete from verified_week where week = any (${names}::date[])`
    await transaction`
      insert into verified_week (week, start_id, end_id, run)
      select w.week, w.start_id, w.end_id, ${run}
      from unnest(${names}::date[], ${weeks.map(({ startId }) => startId)}::text[],
        ${weeks.map(({ endId }) => endId)}::text[]) as w(week, start_id, end_id)
      on conflict (week) do update set run = excluded.run`
  })
}

/**
 * Waits for transactions that change closed calls and began before the weeks were marked. Rejects
 * if one of them does not end in time.
 */
export async function awaitChanges(sql: Sql): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`
    await transaction`lock table verified_week in share row exclusive mode`
  })
}

/** Returns true if calls of the week may still change in normal operation. */
export async function isUnderWay(sql: TransactionSql, week: Week): Promise<boolean> {
  const [row] = await sql<{ busy: boolean }[]>`
    select exists (select from hold h
        where h.id >= ${week.startId} and h.id < ${week.endId} and h.state = 'open')
      or exists (select from entry e
        where e.posting >= ${week.startId} and e.posting < ${week.endId}
          and e.id > coalesce((select max(upto_id) from ledger_block), 0)) as busy`
  return row?.busy ?? true
}

/** Records a week with its sums. Returns false if it was changed or taken over meanwhile. */
export async function recordWeek(sql: TransactionSql, week: Week, run: string): Promise<boolean> {
  const { name, startId, endId } = week
  const scope: Scope = { ranges: [{ from: startId, to: endId }], weeks: [], block: 0n }
  await sql`
    insert into verified_sum (week, account_id, currency, source, destination, entries, amount)
    select ${name}::date, account_id, currency, source, destination, count(*), sum(amount)
    from entry where posting >= ${startId} and posting < ${endId} group by 2, 3, 4, 5`
  await sql`
    insert into verified_key (week, key_id, limited)
    select ${name}::date, h.key_id, sum(c.charged)
    from hold h join call c on c.request_id = h.request_id
    where ${holdsIn(sql, scope, 'h.id')} and ${callsIn(sql, scope, 'c.request_id')}
      and h.spend_limited group by 2`
  await sql`
    insert into verified_budget (week, use_id, spent)
    select ${name}::date, u.id, sum(budget_used(b.unit, case when h.state = 'settled'
      then c.charged end, h.counters[n + 1], c.lines))
    from hold h join call c on c.request_id = h.request_id
    cross join lateral generate_series(1, cardinality(h.counters), 2) n
    join budget_use u on u.id = h.counters[n] join budget b on b.id = u.budget_id
    where ${holdsIn(sql, scope, 'h.id')} and ${callsIn(sql, scope, 'c.request_id')} group by 2`
  const { count } = await sql`
    update verified_week w set verified_at = clock_timestamp(),
      upto_id = coalesce((select max(upto_id) from ledger_block), 0),
      holds = (select count(*) from hold h where h.id >= ${startId} and h.id < ${endId}),
      entries = (select coalesce(sum(s.entries), 0) from verified_sum s where s.week = w.week),
      digest = week_digest(${startId}, ${endId})
    where w.week = ${name}::date and w.run = ${run} and w.changed_at is null
      and w.verified_at is null`
  return count === 1
}

export interface KnownWeek {
  readonly week: string
  readonly from: string
  readonly to: string
  /** An entry has been posted since, so the week is read again. */
  readonly is_late: boolean
}

/** Returns the weeks whose sums count, in order. */
export async function selectKnownWeeks(sql: TransactionSql): Promise<KnownWeek[]> {
  return await sql<KnownWeek[]>`
    with known as materialized (
      select week, start_id, end_id, upto_id from verified_week
      where verified_at is not null and changed_at is null and altered_at is null
    ), late as materialized (
      select e.id, e.posting from (
        select id, posting from entry where id > (select min(upto_id) from known) offset 0) e
      where e.posting < (select max(end_id) from known))
    select week::text, start_id as from, end_id as to, exists (
      select from late l where l.posting >= k.start_id and l.posting < k.end_id
        and l.id > k.upto_id) as is_late
    from known k order by start_id`
}

/** Returns the last verified block, or 0. */
export async function readVerifiedBlock(sql: TransactionSql): Promise<bigint> {
  const [row] = await sql<{ block: bigint }[]>`select block from verified_books`
  return row?.block ?? 0n
}

/** Returns the weeks that an earlier full audit found altered, or that this one finds. */
export async function findAltered(sql: TransactionSql, isFull: boolean) {
  if (!isFull) {
    return await sql<(Violation & { readonly week: string })[]>`
      select week::text, format('week of %s', week) as subject,
        format('other rows, found at %s', altered_at) as found,
        format('as verified at %s', verified_at) as expected
      from verified_week where altered_at is not null order by week limit ${LIST_LIMIT}`
  }
  return await sql<(Violation & { readonly week: string })[]>`
    select w.week::text, format('week of %s', w.week) as subject,
      case when not f.is_same then 'other holds, calls or entries'
        else 'sums of other entries' end as found,
      format('as verified at %s', w.verified_at) as expected
    from verified_week w cross join lateral (
      select week_digest(w.start_id, w.end_id) = w.digest as is_same, not exists (
        select from (
          select account_id, currency, source, destination, count(*) as entries,
            sum(amount) as amount
          from entry where posting >= w.start_id and posting < w.end_id group by 1, 2, 3, 4) e
        full join (select * from verified_sum where week = w.week) s
          using (account_id, currency, source, destination)
        where e.entries is distinct from s.entries or e.amount is distinct from s.amount) as adds_up
    ) f
    where w.verified_at is not null and w.changed_at is null and not (f.is_same and f.adds_up)
    order by w.week limit ${LIST_LIMIT}`
}

export interface Findings {
  readonly known: readonly KnownWeek[]
  readonly head: HeadRow | undefined
  /** True if all blocks up to the head are as sealed. */
  readonly isChainIntact: boolean
  /** Null unless this was a full audit. */
  readonly altered: readonly string[] | null
}

/** Keeps what an audit found, for the next one. */
export async function keepFindings(sql: Sql, findings: Findings): Promise<void> {
  const { known, head, isChainIntact, altered } = findings
  const late = known.filter(({ is_late }) => is_late).map(({ week }) => week)
  const read = known.filter(({ is_late }) => !is_late).map(({ week }) => week)
  await sql.begin(async (transaction) => {
    await transaction`
      update verified_week set changed_at = clock_timestamp()
      where week = any (${late}::date[]) and changed_at is null`
    if (altered) {
      await transaction`
        update verified_week set altered_at = case when week = any (${altered}::date[])
          then clock_timestamp() end
        where (altered_at is null) = (week = any (${altered}::date[]))`
    }
    if (!head) return
    await transaction`
      update verified_week set upto_id = ${head.upto_id.toString()}::bigint
      where week = any (${read}::date[]) and changed_at is null
        and upto_id < ${head.upto_id.toString()}::bigint`
    if (!isChainIntact) return
    await transaction`
      insert into verified_books (block, hash) values (${head.number.toString()}, ${head.hash})
      on conflict (singleton) do update set block = excluded.block, hash = excluded.hash
      where verified_books.block < excluded.block`
  })
}
