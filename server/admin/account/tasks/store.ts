/** SQL of the console's task list, which omits requests and results. */
import type { Sql } from 'postgres'
import type { TaskKind } from '../../../lib/task-kinds.ts'
import { isTerminal, type TaskState } from '../../../tasks/task.ts'

export interface AccountTaskFilter {
  readonly accountId: string
  readonly limit: number
  /** The id of the last task of the previous page. */
  readonly after?: string | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  readonly kind?: TaskKind | undefined
  readonly states?: readonly TaskState[] | undefined
  readonly model?: string | undefined
  /** The task's own id or the upstream's. */
  readonly id?: string | undefined
}

export interface TaskListRow {
  readonly id: string
  readonly kind: TaskKind
  readonly model: string
  readonly state: TaskState
  readonly key_id: string
  readonly request_id: string
  readonly currency: string
  readonly held: bigint
  readonly charged: bigint | null
  readonly webhook_url: string | null
  readonly callback_state: 'pending' | 'delivered' | 'dropped' | null
  readonly callback_attempts: number | null
  readonly error_code: string | null
  readonly error_message: string | null
  /** By the database's clock. */
  readonly elapsed_ms: number
  readonly due_at: Date | null
  readonly created_at: Date
  readonly finished_at: Date | null
}

/** Lists tasks, newest first. Charges and deliveries are looked up for the page's rows only. */
export function selectTaskList(sql: Sql, filter: AccountTaskFilter): Promise<TaskListRow[]> {
  const { accountId, limit, after, from, to, kind, states, model, id } = filter
  return sql<TaskListRow[]>`
    select t.*, b.currency, coalesce(h.amount, 0) as held, c.charged, d.state as callback_state,
      d.attempts::int as callback_attempts
    from (
      select id, kind, model, state, key_id, request_id, hold_id, account_id, webhook_url,
        error_code, error_message, due_at, created_at, finished_at,
        (extract(epoch from coalesce(finished_at, now()) - created_at) * 1000)::int as elapsed_ms
      from task where account_id = ${accountId} and deleted_at is null
        ${from ? sql`and created_at >= ${from}` : sql``}
        ${to ? sql`and created_at < ${to}` : sql``}
        ${kind ? sql`and kind = ${kind}` : sql``}
        ${states ? narrowStates(sql, states) : sql``}
        ${model ? sql`and model = ${model}` : sql``}
        ${
          id
            ? sql`and id in (select ${id} union all
                select task_id from task_attempt where upstream_id = ${id})`
            : sql``
        }
        ${
          after
            ? sql`and (created_at, id) < (select created_at, id from task
                where id = ${after} and account_id = ${accountId})`
            : sql``
        }
      order by created_at desc, id desc limit ${limit}) t
    join balance b on b.account_id = t.account_id
    left join hold h on h.id = t.hold_id
    left join call c on c.request_id = t.request_id
    left join delivery d on d.task_id = t.id and d.redelivery_of is null
    order by t.created_at desc, t.id desc`
}

/** Open tasks are few and have a partial index, whose condition must be repeated literally. */
function narrowStates(sql: Sql, states: readonly TaskState[]) {
  const isOpen = !states.some(isTerminal)
  return sql`and state = any(${states as string[]}::text[])
    ${isOpen ? sql`and due_at is not null` : sql``}`
}
