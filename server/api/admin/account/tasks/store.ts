/** SQL of the console's task list, which omits requests and results. */
import type { Sql } from 'postgres'
import { columnsOf } from '../../../../base/database/columns.ts'
import { behind, during, equal } from '../../../../base/database/conditions.ts'
import { isTerminal, type TaskState } from '../../../../work/tasks/task.ts'
import type { SchemaRow } from '../../../endpoints/codecs.ts'
import type { ReadQuery } from '../../route.ts'
import { task, type tasksContract } from './contract.ts'

export type AccountTaskFilter = Partial<
  ReadQuery<(typeof tasksContract)['GET /accounts/:account_id/tasks']>
> & { readonly accountId: string; readonly limit: number }

type TaskListRow = SchemaRow<typeof task> & { readonly next_poll_at: Date | null }

/** Lists tasks, newest first. Charges and deliveries are looked up for the page's rows only. */
export function selectTaskList(sql: Sql, filter: AccountTaskFilter): Promise<TaskListRow[]> {
  const { accountId, limit, cursor, kind, status, model, id } = filter
  const columns = columnsOf(sql, task.shape, 't', {
    status: sql`case when t.state = 'submitting' then 'queued' else t.state end`,
    currency: sql`b.currency`,
    held: sql`coalesce(h.amount, 0)`,
    charged: sql`c.charged`,
    callback: sql`case when t.webhook_url is not null then json_build_object('url', t.webhook_url,
      'status', coalesce(d.state, 'waiting'), 'attempts', coalesce(d.attempts, 0)) end`,
    error: sql`case when t.error_code is not null then json_build_object('code', t.error_code,
      'message', coalesce(t.error_message, '')) end`,
    elapsed_ms: sql`
      (extract(epoch from coalesce(t.finished_at, now()) - t.created_at) * 1000)::int`,
  })
  return sql<TaskListRow[]>`
    select ${columns}, t.due_at as next_poll_at
    from (
      select * from task where account_id = ${accountId} and deleted_at is null
        ${during(sql, 'created_at', filter)} ${equal(sql, { kind, model })}
        ${status ? narrowStates(sql, status) : sql``}
        ${
          id
            ? sql`and id in (select ${id} union all
                select task_id from task_attempt where upstream_id = ${id})`
            : sql``
        }
        ${behind(sql, 'task', cursor, { accountId })}
      order by created_at desc, id desc limit ${limit}) t
    join balance b on b.account_id = t.account_id
    left join hold h on h.id = t.hold_id and h.account_id = t.account_id
    left join call c on c.request_id = t.request_id and c.account_id = t.account_id
    left join delivery d on d.task_id = t.id and d.account_id = t.account_id
      and d.redelivery_of is null
    order by t.created_at desc, t.id desc`
}

/**
 * Callers do not see whether an upstream has accepted a task yet. Open tasks are few and have a
 * partial index, whose condition must be repeated literally.
 */
function narrowStates(sql: Sql, status: Exclude<TaskState, 'submitting'>) {
  const states = status === 'queued' ? ['submitting', 'queued'] : [status]
  return sql`and state = any(${states}::text[])
    ${isTerminal(status) ? sql`` : sql`and due_at is not null`}`
}
