/** Lists tasks, shows one with its timeline, and cancels tasks. */

import { showTimeline } from '../../../endpoints/account/task-timeline.ts'
import { catchUp } from '../../../endpoints/account/usage.ts'
import { formatAmount } from '../../../lib/money.ts'
import type { TaskRow, TaskState } from '../../../tasks/task.ts'
import type { HandlersOf } from '../../handler.ts'
import { toPage } from '../../page.ts'
import { found } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import type { tasksContract } from './contract.ts'
import { selectTaskList, type TaskListRow } from './store.ts'

type ShownStatus = Exclude<TaskState, 'submitting'>

const MEDIA = ['image', 'video', 'last_frame', 'erased'] as const
const MEDIA_MAX = 50

/** Callers do not see whether an upstream has accepted a task yet. */
function statesOf(status: ShownStatus): readonly TaskState[] {
  return status === 'queued' ? ['submitting', 'queued'] : [status]
}

function describeCallback({ webhook_url: url, ...row }: TaskListRow) {
  if (url === null) return null
  return {
    url,
    status: row.callback_state ?? ('waiting' as const),
    attempts: row.callback_attempts ?? 0,
  }
}

function describeTask(row: TaskListRow) {
  const { error_code: code, error_message: message } = row
  return {
    id: row.id,
    kind: row.kind,
    model: row.model,
    status: row.state === 'submitting' ? ('queued' as const) : row.state,
    key_id: row.key_id,
    request_id: row.request_id,
    currency: row.currency,
    held: formatAmount(row.held),
    charged: row.charged === null ? null : formatAmount(row.charged),
    callback: describeCallback(row),
    error: code === null ? null : { code, message: message ?? '' },
    elapsed_ms: row.elapsed_ms,
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
  }
}

async function listMedia({ library }: AdminServices, task: TaskRow) {
  const { account_id: accountId, id: taskId } = task
  const rows = await library.list({ accountId, taskId, kinds: MEDIA, limit: MEDIA_MAX })
  return rows.map((row) => ({
    asset_id: row.id,
    kind: row.kind,
    url: library.linkOf(row) ?? null,
    content_type: row.content_type,
    state: row.state,
  }))
}

async function findTask({ tasks }: AdminServices, accountId: string, id: string) {
  return found(await tasks.find(accountId, id), 'task')
}

async function describeWhole(services: AdminServices, accountId: string, id: string) {
  await catchUp(services)
  const task = await findTask(services, accountId, id)
  const [[row], [shown], media] = await Promise.all([
    selectTaskList(services.sql, { accountId, id: task.id, limit: 1 }),
    services.library.withOwnLinks([task]),
    listMedia(services, task),
  ])
  const listed = found(row, 'task')
  return {
    ...describeTask(listed),
    upstream_id: task.upstream_id,
    polls: task.polls,
    next_poll_at: listed.due_at?.toISOString() ?? null,
    request: task.request,
    result: shown?.result ?? null,
    usage: task.usage === null ? null : { ...task.usage },
    media,
  }
}

export const tasksHandlers: HandlersOf<typeof tasksContract> = {
  async 'GET /accounts/:account_id/tasks'({ params, query }, { sql }) {
    const { limit, cursor, status, ...rest } = query
    const states = status && statesOf(status)
    const filter = { ...rest, states, accountId: params.account_id, after: cursor }
    const rows = await selectTaskList(sql, { ...filter, limit: limit + 1 })
    return toPage(rows, limit, ({ id }) => id, describeTask)
  },
  'GET /accounts/:account_id/tasks/:task_id': ({ params }, services) =>
    describeWhole(services, params.account_id, params.task_id),
  async 'GET /accounts/:account_id/tasks/:task_id/timeline'({ params }, services) {
    const task = await findTask(services, params.account_id, params.task_id)
    return { events: showTimeline(await services.tasks.timeline(task)) }
  },
  async 'POST /accounts/:account_id/tasks/:task_id/cancel'({ params }, services) {
    const task = await findTask(services, params.account_id, params.task_id)
    await services.tasks.cancel(task)
    return describeWhole(services, params.account_id, task.id)
  },
}
