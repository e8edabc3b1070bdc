/** The SQL of tasks as callers see them: only their own, by our id or the upstream's. */
import type { Sql, TransactionSql } from 'postgres'
import type { TaskKind } from '../../base/lib/kinds-and-states.ts'
import { columns, type OwnTask } from './store.ts'
import type { SourceTask } from './submission.ts'
import type { TaskEvent, TaskRow } from './task.ts'

/** The shape of our ids and of upstreams' ids; the database refuses some other texts. */
const ID_SHAPE = /^[\x21-\x7e]{1,200}$/

export function isTaskId(text: string): boolean {
  return ID_SHAPE.test(text)
}

/** Finds a task of the account by our id or by the upstream's. */
export async function findTask(
  sql: Sql,
  accountId: string,
  id: string,
  kind?: TaskKind,
): Promise<TaskRow | undefined> {
  if (!isTaskId(id)) return undefined
  const [row] = await sql<TaskRow[]>`
    select ${columns(sql)}, ${charge(sql)} ${ofAccount(sql, accountId, id)}
      and (${kind ?? null}::text is null or t.kind = ${kind ?? null})
    order by t.created_at desc limit 1`
  return row
}

/** The charge that the record of an ended task has; null before, or once it is archived. */
function charge(sql: Sql | TransactionSql) {
  return sql`(
    select jsonb_build_object('charged', c.charged::text, 'currency', c.currency)
    from call c
    where c.request_id = t.request_id and c.account_id = t.account_id) as charge`
}

/** Returns the charge of a task that ends in this transaction, once it is settled. */
export async function readCharge(
  transaction: TransactionSql,
  task: OwnTask,
): Promise<TaskRow['charge']> {
  const [row] = await transaction<Pick<TaskRow, 'charge'>[]>`
    select ${charge(transaction)} from task t
    where t.id = ${task.id} and t.account_id = ${task.account_id}`
  return row?.charge
}

/** Finds a task of any kind, with the time since its end. */
export async function findSource(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<SourceTask | undefined> {
  if (!isTaskId(id)) return undefined
  const [row] = await sql<SourceTask[]>`
    select ${columns(sql)},
      extract(epoch from now() - t.finished_at)::float8 * 1000 as finished_ms
    ${ofAccount(sql, accountId, id)}
    order by t.created_at desc limit 1`
  return row
}

function ofAccount(sql: Sql, accountId: string, id: string) {
  return sql`
    from task t join task_attempt a on a.id = t.attempt_id
    where t.account_id = ${accountId} and t.deleted_at is null
      and t.id in (
        select ${id} union all
        select task_id from task_attempt where upstream_id = ${id})`
}

export interface TaskFilter {
  readonly accountId: string
  readonly kind: TaskKind
  readonly limit: number
  readonly offset?: number
  /** The id of the last task on the previous page. */
  readonly after?: string
  readonly states?: readonly string[]
  readonly ids?: readonly string[]
  readonly model?: string
  readonly tier?: string
  /** Only tasks that failed with one of these codes. */
  readonly codes?: readonly string[]
  /** Omits tasks that failed with one of these codes. */
  readonly otherCodes?: readonly string[]
}

export async function listTasks(
  sql: Sql,
  filter: TaskFilter,
): Promise<{ readonly rows: TaskRow[]; readonly total: number }> {
  const { accountId, kind, states = null, ids = null, model = null, after = null } = filter
  const { tier = null, codes = null, otherCodes = null } = filter
  const matching = sql`
    t.kind = ${kind} and t.deleted_at is null
      and (${states as string[] | null}::text[] is null
        or t.state = any(${states as string[] | null}::text[]))
      and (${ids as string[] | null}::text[] is null
        or t.id = any(${ids as string[] | null}::text[])
        or a.upstream_id = any(${ids as string[] | null}::text[]))
      and (${model}::text is null or t.model = ${model})
      and (${tier}::text is null or t.request ->> 'service_tier' = ${tier})
      and (${codes as string[] | null}::text[] is null
        or t.error_code = any(${codes as string[] | null}::text[]))
      and (${otherCodes as string[] | null}::text[] is null
        or t.error_code is null or t.error_code <> all(${otherCodes as string[] | null}::text[]))`
  const rows = await sql<TaskRow[]>`
    select ${columns(sql)}, ${charge(sql)} from task t join task_attempt a on a.id = t.attempt_id
    where t.account_id = ${accountId} and ${matching}
      and (${after}::text is null or (t.created_at, t.id) < (
      select p.created_at, p.id from task p
        where p.id = ${after} and p.account_id = ${accountId}))
    order by t.created_at desc, t.id desc
    limit ${filter.limit} offset ${filter.offset ?? 0}`
  if (filter.offset === undefined) return { rows, total: rows.length }
  const [count] = await sql<{ total: number }[]>`
    select count(*)::int as total from task t join task_attempt a on a.id = t.attempt_id
    where t.account_id = ${accountId} and ${matching}`
  return { rows, total: count?.total ?? 0 }
}

/** Hides a finished task from finds and lists. False when it has not finished. */
export async function hideTask(sql: Sql, task: OwnTask): Promise<boolean> {
  const updated = await sql`
    update task set deleted_at = now()
    where id = ${task.id} and account_id = ${task.account_id} and due_at is null
      and deleted_at is null`
  return updated.count === 1
}

export function readTimeline(sql: Sql, taskId: string): Promise<TaskEvent[]> {
  return sql<TaskEvent[]>`
    select kind, detail, at from task_event where task_id = ${taskId} order by id limit 1000`
}
