/**
 * The invariants as SQL. Each query returns the rows that violate its invariant, so a clean ledger
 * returns none. All run in one repeatable-read transaction and see a busy gateway at one instant.
 */
import type { Sql, TransactionSql } from 'postgres'
import { callsIn, holdsIn, type Scope } from './scope-store.ts'

export interface Violation {
  readonly subject: string
  readonly found: string
  readonly expected: string
}

export interface Invariant {
  readonly id: string
  readonly title: string
  /** True if it judges single calls, so that a week can be checked by itself. */
  readonly isOfCalls?: true
  readonly find: (sql: TransactionSql, scope: Scope) => Promise<readonly Violation[]>
}

/** Maximum number of violations listed per invariant. */
const LIST_LIMIT = 20

const sumIsZero: Invariant = {
  id: 'I1',
  title: 'all entries of a currency add up to zero',
  find: (sql, scope) => sql<Violation[]>`
    with moved as (
      select currency, -amount as amount from entry where ${holdsIn(sql, scope, 'posting')}
      union all
      select currency, amount from entry where ${holdsIn(sql, scope, 'posting')})
    select currency as subject, sum(amount)::text as found, '0' as expected
    from moved group by currency having sum(amount) <> 0 limit ${LIST_LIMIT}`,
}

const balancesMatchEntries: Invariant = {
  id: 'I2',
  title: 'each balance is the sum of its entries, archived ones included',
  find: (sql, scope) => sql<Violation[]>`
    with flow as (
      select account_id, source, destination, amount from entry
        where ${holdsIn(sql, scope, 'posting')}
      union all
      select account_id, source, destination, amount from verified_sum
        where week = any (${scope.weeks}::date[])
      union all
      select account_id, source, destination, amount from archived_sum
    ), moved as (
      select account_id, source as pot, -amount as amount from flow
      union all
      select account_id, destination, amount from flow
    ), summed as (
      select account_id,
        coalesce(sum(amount) filter (where pot = 'available'), 0) as available,
        coalesce(sum(amount) filter (where pot = 'held'), 0) as held,
        coalesce(-sum(amount) filter (where pot = 'debt'), 0) as debt
      from moved group by account_id)
    select coalesce(b.account_id, s.account_id) as subject,
      format('available %s, held %s, debt %s', b.available, b.held, b.debt) as found,
      format('available %s, held %s, debt %s', coalesce(s.available, 0), coalesce(s.held, 0),
        coalesce(s.debt, 0)) as expected
    from balance b full join summed s on s.account_id = b.account_id
    where b.available is distinct from coalesce(s.available, 0)
      or b.held is distinct from coalesce(s.held, 0)
      or b.debt is distinct from coalesce(s.debt, 0)
    limit ${LIST_LIMIT}`,
}

const nothingNegative: Invariant = {
  id: 'I3',
  title: 'available, held and debt are never negative',
  find: (sql) => sql<Violation[]>`
    select account_id as subject, format('%s / %s / %s', available, held, debt) as found,
      'at least 0 / 0 / 0' as expected
    from balance where available < 0 or held < 0 or debt < 0 limit ${LIST_LIMIT}`,
}

const heldIsOpenHolds: Invariant = {
  id: 'I4',
  title: 'held is the sum of the open holds',
  find: (sql) => sql<Violation[]>`
    with open as (
      select account_id, sum(amount) as amount from hold where state = 'open' group by account_id)
    select coalesce(b.account_id, o.account_id) as subject, b.held::text as found,
      coalesce(o.amount, 0)::text as expected
    from balance b full join open o on o.account_id = b.account_id
    where b.held is distinct from coalesce(o.amount, 0)
    limit ${LIST_LIMIT}`,
}

const holdsEndOnce: Invariant = {
  id: 'I5',
  title: 'each closed hold ended once: its whole amount was moved, and one record explains it',
  isOfCalls: true,
  find: (sql, scope) => sql<Violation[]>`
    with left_hold as (
      select posting, sum(amount) as amount from entry
      where source = 'held' and ${holdsIn(sql, scope, 'posting')} group by posting)
    select h.id as subject,
      format('%s, %s left it, record %s', h.state, coalesce(l.amount, 0),
        coalesce(c.request_id, 'missing')) as found,
      case h.state when 'open' then 'open, 0 left it, no record'
        else format('%s, %s left it, record %s', h.state, h.amount, h.request_id) end as expected
    from hold h
    left join left_hold l on l.posting = h.id
    left join (select * from call where ${callsIn(sql, scope, 'request_id')}) c
      on c.hold_id = h.id
    where ${holdsIn(sql, scope, 'h.id')} and case h.state
      when 'open' then l.posting is not null or c.hold_id is not null
      else coalesce(l.amount, 0) <> h.amount or c.request_id is distinct from h.request_id
      end
    limit ${LIST_LIMIT}`,
}

const chargesAreExplained: Invariant = {
  id: 'I6',
  title: 'a charge is what left the hold plus its overrun, debt and correction entries',
  isOfCalls: true,
  find: (sql, scope) => sql<Violation[]>`
    with taken as (
      select posting, sum(case when source = 'revenue' then -amount else amount end) as amount
      from entry where (destination = 'revenue' or source = 'revenue')
        and ${holdsIn(sql, scope, 'posting')}
      group by posting)
    select c.hold_id as subject,
      format('charged %s, returned %s of %s', c.charged, c.returned, c.held) as found,
      format('%s went to revenue', coalesce(t.amount, 0)) as expected
    from call c left join taken t on t.posting = c.hold_id
    where ${callsIn(sql, scope, 'c.request_id')} and (c.charged <> coalesce(t.amount, 0)
      or c.returned <> c.held - least(c.charged, c.held))
    limit ${LIST_LIMIT}`,
}

const correctionsAreExplained: Invariant = {
  id: 'I18',
  title: 'a correction is the final charge minus the charge when the call was closed as lost',
  isOfCalls: true,
  find: (sql, scope) => sql<Violation[]>`
    with corrected as (
      select posting, sum(case when source = 'revenue' then -amount else amount end) as amount
      from entry where step in ('correction', 'correction_debt', 'correction_return')
        and ${holdsIn(sql, scope, 'posting')}
      group by posting)
    select coalesce(c.hold_id, o.posting) as subject,
      format('%s, corrected by %s', coalesce(c.status, 'no record'),
        coalesce(o.amount, 0)) as found,
      format('not lost, corrected by %s', coalesce(c.charged - c.lost_charge, 0)) as expected
    from (select * from call where lost_charge is not null
      and ${callsIn(sql, scope, 'request_id')}) c
    full join corrected o on o.posting = c.hold_id
    where c.hold_id is null or c.status = 'lost'
      or c.charged - c.lost_charge <> coalesce(o.amount, 0)
    limit ${LIST_LIMIT}`,
}

const deliveriesEndOnce: Invariant = {
  id: 'I10',
  title: 'a delivery has at most 4 attempts and ends delivered by one or dropped after the last',
  find: (sql) => sql<Violation[]>`
    select d.id as subject,
      format('%s: %s attempts begun, %s recorded, %s accepted, %s under way', d.state, d.attempts,
        a.recorded, a.accepted, a.open) as found,
      case d.state when 'delivered' then 'one accepted' when 'dropped' then '4, none accepted'
        else 'none accepted, one under way if it is leased' end as expected
    from delivery d cross join lateral (
      select count(*) as recorded, coalesce(max(number), 0) as last,
        count(*) filter (where outcome = 'accepted') as accepted,
        count(*) filter (where outcome is null) as open
      from delivery_attempt where delivery_id = d.id) a
    where a.recorded <> d.attempts or a.last <> d.attempts
      or a.accepted <> (d.state = 'delivered')::int
      or a.open <> (d.lease_until is not null)::int
      or (d.state = 'dropped' and d.attempts <> 4)
    limit ${LIST_LIMIT}`,
}

const nothingIsMissing: Invariant = {
  id: 'I11',
  title: 'no acknowledged write is missing: every record and entry has its hold or credit',
  isOfCalls: true,
  find: (sql, scope) => sql<Violation[]>`
    select c.request_id as subject, 'a record without its hold' as found, c.hold_id as expected
    from call c where ${callsIn(sql, scope, 'c.request_id')} and not exists (
      select 1 from hold h where h.id = c.hold_id and ${holdsIn(sql, scope, 'h.id')})
    union all
    select e.posting, 'an entry without hold or credit', 'one of them' from entry e
    where ${holdsIn(sql, scope, 'e.posting')} and not exists (
      select 1 from hold h where h.id = e.posting and ${holdsIn(sql, scope, 'h.id')})
      and not exists (select 1 from credit c where c.id = e.posting)
    union all
    select h.id, 'a hold without its entry', h.amount::text from hold h
    where ${holdsIn(sql, scope, 'h.id')} and h.amount > 0 and not exists (
      select 1 from entry e where e.posting = h.id and e.step = 'hold' and e.amount = h.amount
        and ${holdsIn(sql, scope, 'e.posting')})
    limit ${LIST_LIMIT}`,
}

const spendIsCounted: Invariant = {
  id: 'I17',
  title: 'the spend counter that a key shares with its rotations matches their limited calls',
  find: (sql, scope) => sql<Violation[]>`
    with used as (
      select h.key_id, case when h.state = 'open' then h.amount else 0 end as held,
        coalesce(c.charged, 0) as spent
      from hold h left join (
        select * from call where ${callsIn(sql, scope, 'request_id')}) c on c.hold_id = h.id
      where h.spend_limited and ${holdsIn(sql, scope, 'h.id')}
      union all
      select key_id, 0, limited from verified_key where week = any (${scope.weeks}::date[])
      union all
      select key_id, 0, limited from archived_key where limited > 0
    ), limited as (
      select coalesce(k.counter_key_id, u.key_id) as key_id, sum(u.held) as held,
        sum(u.spent) as spent
      from used u left join api_key k on k.id = u.key_id group by 1)
    select coalesce(s.key_id, l.key_id) as subject,
      case when k.counter_key_id is null then format('held %s, spent %s', s.held, s.spent)
        else format('a counter of its own beside that of %s', k.counter_key_id) end as found,
      format('held %s, spent at least %s', coalesce(l.held, 0), coalesce(l.spent, 0)) as expected
    from key_spend s full join limited l on l.key_id = s.key_id
    left join api_key k on k.id = s.key_id
    where s.held is distinct from coalesce(l.held, 0) or s.spent < coalesce(l.spent, 0)
      or k.counter_key_id is not null
    limit ${LIST_LIMIT}`,
}

export const LEDGER_INVARIANTS: readonly Invariant[] = [
  sumIsZero,
  balancesMatchEntries,
  nothingNegative,
  heldIsOpenHolds,
  holdsEndOnce,
  chargesAreExplained,
  correctionsAreExplained,
  deliveriesEndOnce,
  nothingIsMissing,
  spendIsCounted,
]

/** Runs `work` on one snapshot of the database, with a statement timeout of 30 minutes. */
export function withReadOnlySnapshot<T>(
  sql: Sql,
  work: (view: TransactionSql) => Promise<T>,
): Promise<T> {
  return withAuditSnapshot(sql, 'read only', work)
}

/** Like withReadOnlySnapshot, but in a transaction that may write what it found. */
export async function withAuditSnapshot<T>(
  sql: Sql,
  access: 'read only' | 'read write',
  work: (view: TransactionSql) => Promise<T>,
): Promise<T> {
  const result = await sql.begin(`isolation level repeatable read ${access}`, async (view) => {
    await view`set local statement_timeout = '30min'`
    // A scope may be a week or everything, and no query plan suits both.
    await view`set local plan_cache_mode = force_custom_plan`
    // Statistics are older than the newest calls: a plan made for one row would compare all rows
    // with all rows.
    await view`set local enable_nestloop = off`
    await view`set local jit = off`
    return { value: await work(view) }
  })
  return result.value
}
