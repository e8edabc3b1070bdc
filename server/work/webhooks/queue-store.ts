/**
 * The SQL of the delivery queue. All times are the database's, unless a test passes its own. A
 * claim commits the attempt before anything is sent, so a crash can lose its outcome, but never the
 * fact that it may have been sent.
 */

import type { Sql, TransactionSql } from 'postgres'
import type { DeliveryOutcome, DeliveryStatus } from '../../base/lib/kinds-and-states.ts'
import type { SendingLimits } from './schedule.ts'
import type { SecretRow } from './secret-store.ts'

export interface ClaimedRow extends SecretRow {
  readonly id: string
  readonly account_id: string
  readonly task_id: string | null
  readonly host: string
  readonly url: string
  readonly body: Buffer
  /** The number of this attempt, from 1. */
  readonly number: number
  readonly fence: bigint
  readonly started_at: Date
}

export interface AttemptResult {
  readonly id: string
  readonly account_id: string
  readonly number: number
  readonly fence: bigint
  readonly outcome: DeliveryOutcome
  readonly status: number | null
  readonly error: string | null
  readonly latencyMs: number | null
  readonly responseHead: Buffer | null
}

interface ClaimOptions {
  readonly limits: SendingLimits
  readonly freeSlots: number
  readonly delaysMs: readonly number[]
  /** Null for the database's clock. */
  readonly now: Date | null
}

/** Arbitrary key. One process claims at a time, so that the limits hold across all processes. */
const CLAIM_LOCK = 4_861_920_331

/** A delivery whose attempt outlived its lease. */
export interface LostRow {
  readonly id: string
  readonly account_id: string
  readonly task_id: string | null
  readonly host: string
  readonly state: 'pending' | 'dropped'
}

export interface Claim {
  readonly claimed: readonly ClaimedRow[]
  readonly lost: readonly LostRow[]
}

/**
 * Claims up to `freeSlots` due deliveries within the limits per host and per account; accounts take
 * turns. First reschedules or drops deliveries whose attempt outlived its lease.
 */
export function claimDueDeliveries(sql: Sql, options: ClaimOptions): Promise<Claim> {
  return sql.begin(async (transaction) => {
    await transaction`select pg_advisory_xact_lock(${CLAIM_LOCK}::bigint)`
    const lost = await recoverLost(transaction, options)
    return { lost, claimed: await claim(transaction, options) }
  })
}

function recoverLost(sql: TransactionSql, { delaysMs, now }: ClaimOptions): Promise<LostRow[]> {
  return sql<LostRow[]>`
    with clock as (select coalesce(${now}::timestamptz, clock_timestamp()) as now),
    expired as (
      select id, attempts from delivery, clock
      where lease_until <= clock.now for update of delivery skip locked),
    lost as (
      update delivery_attempt a set outcome = 'lost', finished_at = clock.now,
        error = 'the gateway ended before the outcome was known'
      from expired, clock
      where a.delivery_id = expired.id and a.number = expired.attempts and a.outcome is null)
    update delivery d set lease_until = null, fence = fence + 1,
      state = case when wait.ms is null then 'dropped' else 'pending' end,
      finished_at = case when wait.ms is null then clock.now end,
      due_at = clock.now + coalesce(wait.ms, 0) * interval '1 millisecond'
    from expired, clock,
      lateral (select (${[...delaysMs]}::int[])[expired.attempts] as ms) wait
    where d.id = expired.id
    returning d.id, d.account_id, d.task_id, d.host, d.state`
}

function claim(
  sql: TransactionSql,
  { limits, freeSlots, now }: ClaimOptions,
): Promise<ClaimedRow[]> {
  return sql<ClaimedRow[]>`
    with recursive clock as materialized (
      select coalesce(${now}::timestamptz, clock_timestamp()) as now),
    -- Each account that waits for a host.
    waiting as (
      (select host, account_id from delivery where state = 'pending' and lease_until is null
        order by host, account_id limit 1)
      union all
      select next.* from waiting w cross join lateral (
        select host, account_id from delivery
        where state = 'pending' and lease_until is null
          and (host, account_id) > (w.host, w.account_id)
        order by host, account_id limit 1) next),
    busy as materialized (select host, account_id from delivery where lease_until is not null),
    due as (
      select d.*, w.host, w.account_id, running.by_account, running.at_host,
        d.place + running.by_account_at_host as turn_at_host
      from waiting w cross join clock cross join lateral (
        select count(*) filter (where b.account_id = w.account_id) as by_account,
          count(*) filter (where b.host = w.host) as at_host,
          count(*) filter (where b.account_id = w.account_id and b.host = w.host)
            as by_account_at_host
        from busy b) running
      cross join lateral (
        select id, due_at, row_number() over (order by due_at) as place from delivery
        where state = 'pending' and lease_until is null
          and host = w.host and account_id = w.account_id and due_at <= clock.now
        order by due_at limit greatest(0, ${limits.perHost} - running.at_host)) d),
    -- One at its limit takes no turn at a host.
    allowed as (
      select *, row_number() over (partition by account_id order by place, due_at) as turn
      from due),
    ranked as (
      select *, row_number() over (partition by host order by turn_at_host, due_at) as place_at_host
      from allowed where turn <= ${limits.perAccount} - by_account),
    chosen as (
      select id from ranked where place_at_host <= ${limits.perHost} - at_host
      order by turn, due_at limit ${freeSlots}),
    locked as (
      select id from delivery where id in (select id from chosen)
        and state = 'pending' and lease_until is null
      for update skip locked),
    claimed as (
      update delivery d set attempts = d.attempts + 1, fence = d.fence + 1,
        lease_until = clock.now + ${limits.leaseMs} * interval '1 millisecond'
      from locked, clock where d.id = locked.id
      returning d.id, d.account_id, d.task_id, d.host, d.url, d.body, d.attempts, d.fence),
    begun as (
      insert into delivery_attempt (delivery_id, number, started_at)
      select id, attempts, clock.now from claimed, clock)
    select c.id, c.account_id, c.task_id, c.host, c.url, c.body, c.attempts as number, c.fence,
      clock.now as started_at, a.webhook_secret as current,
      case when a.webhook_secret_previous_until > now() then a.webhook_secret_previous end
        as previous,
      a.webhook_secret_previous_until as previous_until
    from claimed c cross join clock left join account a on a.id = c.account_id`
}

/**
 * Ends an attempt. Its delivery ends too if it was accepted or `delayMs` is null, else it is due
 * again after `delayMs`. Returns its state, or undefined when the lease is lost.
 */
export async function recordAttempt(
  sql: Sql,
  result: AttemptResult,
  options: { readonly delayMs: number | null; readonly now: Date | null },
): Promise<DeliveryStatus | undefined> {
  const { outcome } = result
  const state =
    outcome === 'accepted' ? 'delivered' : options.delayMs === null ? 'dropped' : 'pending'
  const ended = await sql`
    with clock as (select coalesce(${options.now}::timestamptz, clock_timestamp()) as now),
    mine as (
      update delivery set lease_until = null, state = ${state},
        finished_at = case when ${state} = 'pending' then null else clock.now end,
        due_at = clock.now + ${options.delayMs ?? 0} * interval '1 millisecond'
      from clock
      where id = ${result.id} and account_id = ${result.account_id}
        and fence = ${result.fence.toString()}::bigint
        and lease_until is not null
      returning id)
    update delivery_attempt set outcome = ${outcome}, status = ${result.status},
      error = ${result.error}, latency_ms = ${result.latencyMs}, answer = ${result.responseHead},
      finished_at = clock.now
    from mine, clock
    where delivery_id = mine.id and number = ${result.number}`
  return ended.count > 0 ? state : undefined
}

/** Returns the milliseconds until the next delivery that is not yet due, or null without one. */
export async function readNextDeliveryMs(sql: Sql, now: Date | null): Promise<number | null> {
  const [row] = await sql<{ ms: number | null }[]>`
    with clock as materialized (
      select coalesce(${now}::timestamptz, clock_timestamp()) as now)
    select (extract(epoch from (select min(due_at) from delivery, clock
      where state = 'pending' and lease_until is null and due_at > clock.now) - now) * 1000)::float8
      as ms from clock`
  return row?.ms ?? null
}

/** Ends the waits and leases of up to `limit` deliveries in a minute that end in over `seconds`. */
export async function hurryDeliveries(sql: Sql, seconds: number, limit: number): Promise<number> {
  const hurried = await sql`
    with late as (
      select id from delivery
      where (state = 'pending' and lease_until is null
          and due_at > now() + ${seconds}::float8 * interval '1 second')
        or lease_until > now() + ${seconds}::float8 * interval '1 second'
      limit ${limit} for update skip locked)
    update delivery d set due_at = now() + interval '1 minute',
      lease_until = case when d.lease_until is not null then now() + interval '1 minute' end
    from late where d.id = late.id`
  return hurried.count
}
