/**
 * SQL of budgets. Writers hold the lock of the balance, as does everything that counts towards
 * budgets.
 */
import type { Sql, TransactionSql } from 'postgres'
import { containing } from '../../../base/database/conditions.ts'
import type { BudgetRow, BudgetScope, BudgetTerms, SetBy } from './budget.ts'

type Client = Sql | TransactionSql

/** Returns false if there is no such account. */
export async function lockBalance(transaction: TransactionSql, accountId: string) {
  const found = await transaction`
    select 1 from balance where account_id = ${accountId} for update`
  return found.length > 0
}

export interface NewBudgetRow extends BudgetTerms, BudgetScope {
  readonly id: string
  readonly account_id: string
  readonly counted_under: string
  readonly set_by: SetBy
}

export async function insertBudget(transaction: TransactionSql, row: NewBudgetRow): Promise<void> {
  await transaction`
    insert into budget (id, account_id, scope, subject, counted_under, unit, amount, period,
      time_zone, week_start, models, action, thresholds, end_users_max, set_by)
    values (${row.id}, ${row.account_id}, ${row.scope}, ${row.subject}, ${row.counted_under},
      ${row.unit}, ${row.amount.toString()}, ${row.period}, ${row.time_zone}, ${row.week_start},
      ${row.models as string[] | null}, ${row.action},
      ${row.thresholds as number[]}::smallint[], ${row.end_users_max}, ${row.set_by})`
  await countBudgets(transaction, row.account_id)
}

export async function updateBudget(
  transaction: TransactionSql,
  id: string,
  { amount, action, thresholds }: Pick<BudgetTerms, 'amount' | 'action' | 'thresholds'>,
): Promise<void> {
  await transaction`
    update budget set amount = ${amount.toString()}, action = ${action},
      thresholds = ${thresholds as number[]}::smallint[] where id = ${id}`
}

/**
 * Its counters, of which there may be many, are left to housekeeping, since the account's calls
 * wait for this transaction.
 */
export async function deleteBudget(
  transaction: TransactionSql,
  { id, account_id: accountId }: Pick<BudgetRow, 'id' | 'account_id'>,
): Promise<void> {
  await transaction`delete from budget where id = ${id}`
  await countBudgets(transaction, accountId)
}

/** The balance records whether there are budgets, which every hold of the account reads. */
async function countBudgets(transaction: TransactionSql, accountId: string): Promise<void> {
  await transaction`
    update balance set budgets = (select count(*) from budget where account_id = ${accountId})
    where account_id = ${accountId}`
}

/** Filters that budgets share with the spend limits of keys. */
export interface UseFilter {
  readonly id?: string | undefined
  readonly limit?: number | undefined
  /** The id of the last one of the previous page. */
  readonly after?: string | undefined
  /** A part of the id, the subject or its name. */
  readonly search?: string | undefined
  /** A key of the account, whose calls are counted. */
  readonly keyId?: string | undefined
  /** True for those without room in the current window. */
  readonly isFull?: boolean | undefined
}

export interface BudgetFilter extends UseFilter {
  readonly accountId?: string | undefined
  readonly scope?: BudgetScope['scope'] | undefined
}

const TOP_USERS = 100

/** Lists budgets, oldest first, with their use in the current window. */
export async function selectBudgets(sql: Client, filter: BudgetFilter): Promise<BudgetRow[]> {
  const { accountId, id, limit, after, scope } = filter
  return await sql<BudgetRow[]>`
    select b.id, b.account_id, b.scope, b.subject, b.unit, b.amount, b.period, b.time_zone,
      b.week_start, b.models, b.action, b.thresholds, b.end_users_max, b.set_by, b.created_at,
      a.currency, w.starts as window_start, w.ends as resets_at,
      coalesce(u.spent, 0)::bigint as spent, coalesce(u.held, 0)::bigint as held,
      coalesce(u.end_users, 0)::int as end_users,
      n.name as subject_name
    from budget b join account a on a.id = b.account_id
    cross join lateral budget_window(b.period, b.time_zone, b.week_start, b.created_at,
      budget_clock()) w
    left join lateral (
      select sum(spent) as spent, sum(held) as held,
        count(*) filter (where subject <> '*' or held > 0 or spent > 0) as end_users
      from budget_use where budget_id = b.id and window_start = w.starts) u on true
    cross join lateral (select coalesce(
      (select p.email from person p where b.scope = 'member' and p.id = b.subject),
      (select k.name from api_key k where b.scope = 'key' and k.id = b.subject)) as name) n
    where true
      ${accountId === undefined ? sql`` : sql`and b.account_id = ${accountId}`}
      ${id === undefined ? sql`` : sql`and b.id = ${id}`}
      ${scope === undefined ? sql`` : sql`and b.scope = ${scope}`}
      ${narrowBudgets(sql, filter)}
      ${
        after === undefined
          ? sql``
          : sql`and (b.created_at, b.id) > (select created_at, id from budget where id = ${after})`
      }
    order by b.created_at, b.id limit ${limit ?? null}`.then((rows) => withUsers(sql, rows))
}

function narrowBudgets(sql: Client, { search, keyId, isFull }: BudgetFilter) {
  const part = search && containing(search)
  return sql`
    ${
      part
        ? sql`and (b.id ilike ${part} or b.subject ilike ${part} or n.name ilike ${part})`
        : sql``
    }
    ${
      keyId
        ? sql`and b.counted_under = any((
            select budget_names(k.account_id, k.id,
              jsonb_build_object('tags', to_jsonb(k.required_tags)))
            from api_key k
            where k.id = ${keyId} and k.account_id = b.account_id)::text[])`
        : sql``
    }
    ${
      isFull
        ? sql`and (b.amount = 0 or exists (select from budget_use f
            where f.budget_id = b.id and f.window_start = w.starts
              and f.spent + f.held >= b.amount))`
        : sql``
    }`
}

interface UserRow {
  readonly budget_id: string
  readonly subject: string
  readonly spent: bigint
  readonly held: bigint
}

async function withUsers(sql: Client, rows: readonly BudgetRow[]): Promise<BudgetRow[]> {
  const each = rows.filter(({ scope }) => scope === 'end_user')
  if (each.length === 0) return rows.map((row) => ({ ...row, top_users: [] }))
  const starts = each.map(({ window_start: start }) => start.toISOString())
  const users = await sql<UserRow[]>`
    select b.id as budget_id, u.subject, u.spent::bigint as spent, u.held
    from unnest(${each.map(({ id }) => id)}::text[], ${starts}::text[]::timestamptz[])
      as b(id, starts)
    cross join lateral (
      select subject, spent, held from budget_use
      where budget_id = b.id and window_start = b.starts
        and (subject <> '*' or held > 0 or spent > 0)
      order by spent desc, subject limit ${TOP_USERS}) u`
  const of = (id: string) => users.filter(({ budget_id: budget }) => budget === id)
  return rows.map((row) => ({
    ...row,
    top_users: of(row.id).map(({ subject, spent, held }) => {
      return { end_user: subject === '' ? null : subject.replace(/^u:/, ''), spent, held }
    }),
  }))
}

/** A key with a spend limit, which is a budget that never resets. */
export interface SpendLimitRow {
  readonly id: string
  readonly name: string
  readonly spend_limit: bigint
  readonly spent: bigint
  readonly held: bigint
  readonly currency: string
  readonly created_at: Date
}

/** Lists the spend limits of keys, each shared by the keys that rotations replaced. */
export function selectSpendLimits(
  sql: Client,
  accountId: string,
  { id, limit, after, search, keyId, isFull }: UseFilter = {},
): Promise<SpendLimitRow[]> {
  const part = search && containing(search)
  return sql<SpendLimitRow[]>`
    select k.id, k.name, k.spend_limit, coalesce(s.spent, 0)::bigint as spent,
      coalesce(s.held, 0)::bigint as held, a.currency, k.created_at
    from api_key k join account a on a.id = k.account_id
    left join key_spend s on s.key_id = coalesce(k.counter_key_id, k.id)
    where k.account_id = ${accountId} and k.spend_limit is not null and k.replaced_by is null
      ${id === undefined ? sql`` : sql`and k.id = ${id}`}
      ${part ? sql`and (k.id ilike ${part} or k.name ilike ${part})` : sql``}
      ${
        keyId
          ? sql`and coalesce(k.counter_key_id, k.id) = (
              select coalesce(o.counter_key_id, o.id) from api_key o
              where o.id = ${keyId} and o.account_id = ${accountId})`
          : sql``
      }
      ${isFull ? sql`and coalesce(s.spent + s.held, 0) >= k.spend_limit` : sql``}
      ${
        after === undefined
          ? sql``
          : sql`and (k.created_at, k.id) > (
              select created_at, id from api_key
              where id = ${after} and account_id = ${accountId})`
      }
    order by k.created_at, k.id limit ${limit ?? null}`
}

/** Returns the key under which a key of this account is counted, if it has this key. */
export async function findCounter(
  transaction: TransactionSql,
  accountId: string,
  keyId: string,
): Promise<string | undefined> {
  const [row] = await transaction<{ counter: string }[]>`
    select coalesce(counter_key_id, id) as counter from api_key
    where id = ${keyId} and account_id = ${accountId}`
  return row?.counter
}

/** Returns the id of the account's member with this address or id. */
export async function findMember(
  transaction: TransactionSql,
  accountId: string,
  member: string,
): Promise<string | undefined> {
  const [row] = await transaction<{ id: string }[]>`
    select p.id from person p join membership m on m.person_id = p.id
    where m.account_id = ${accountId}
      and (lower(p.email) = ${member.toLowerCase()} or p.id = ${member})`
  return row?.id
}

/** Returns the distinct names to which the calls of each key of the account may be counted. */
export async function selectCallNames(
  transaction: TransactionSql,
  accountId: string,
): Promise<string[][]> {
  const rows = await transaction<{ names: string[] }[]>`
    select distinct budget_names(account_id, id,
      jsonb_build_object('tags', to_jsonb(required_tags))) as names
    from api_key where account_id = ${accountId}`
  return rows.map(({ names }) => names)
}

export interface CountedBudget {
  readonly id: string
  readonly counted_under: string
  readonly models: string[] | null
}

export function selectCounted(
  transaction: TransactionSql,
  accountId: string,
): Promise<CountedBudget[]> {
  return transaction<CountedBudget[]>`
    select id, counted_under, models from budget where account_id = ${accountId}
    order by created_at, id`
}

/** Returns whether the database knows the time zone. */
export async function isZone(sql: Client, zone: string): Promise<boolean> {
  const found = await sql`select 1 from pg_timezone_names where name = ${zone}`
  return found.length > 0
}

/**
 * Removes counters of budgets that were deleted, and those of end users of windows that ended long
 * ago; at most `most`.
 */
export async function deleteOldUses(sql: Sql, most: number): Promise<number> {
  const [deleted] = await sql<{ count: number }[]>`
    with gone as (
      delete from budget_use where id in (
        select u.id from budget b join budget_use u on u.budget_id = b.id
        where b.scope = 'end_user' and b.period <> 'total' and u.held = 0
          and u.window_start < now() - case b.period when 'day' then interval '3 days'
            when 'week' then interval '21 days' else interval '93 days' end
        union all
        select u.id from budget_use u
        where not exists (select from budget b where b.id = u.budget_id)
        limit ${most})
      returning id
    ), archived as (delete from archived_budget where use_id in (select id from gone))
    select count(*)::int as count from gone`
  return deleted?.count ?? 0
}
