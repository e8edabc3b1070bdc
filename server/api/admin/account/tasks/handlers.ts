/** Lists tasks, shows one with its timeline, and cancels tasks. */

import { toPage } from '../../../../base/http/page.ts'
import { ASSET_KINDS } from '../../../../base/lib/kinds-and-states.ts'
import type { TaskRow } from '../../../../work/tasks/task.ts'
import { showTimeline } from '../../../endpoints/account/task-timeline.ts'
import { catchUp } from '../../../endpoints/account/usage.ts'
import type { HandlersOf } from '../../handler.ts'
import { found } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import type { tasksContract } from './contract.ts'
import { selectTaskList } from './store.ts'

const MEDIA_MAX = 50

async function listMedia({ library }: AdminServices, task: TaskRow) {
  const { account_id: accountId, id: taskId } = task
  const rows = await library.list({ accountId, taskId, kinds: ASSET_KINDS, limit: MEDIA_MAX })
  return rows.map((row) => ({ ...row, asset_id: row.id, url: library.linkOf(row) ?? null }))
}

async function findTask({ tasks }: AdminServices, accountId: string, id: string) {
  return found(await tasks.find(accountId, id), 'task')
}

async function describeWhole(services: AdminServices, accountId: string, id: string) {
  await catchUp(services, accountId)
  const task = await findTask(services, accountId, id)
  const [[row], [shown], media] = await Promise.all([
    selectTaskList(services.sql, { accountId, id: task.id, limit: 1 }),
    services.library.withOwnLinks([task]),
    listMedia(services, task),
  ])
  return {
    ...found(row, 'task'),
    upstream_id: task.upstream_id,
    polls: task.polls,
    request: task.request,
    result: shown?.result ?? null,
    usage: task.usage === null ? null : { ...task.usage },
    media,
  }
}

export const tasksHandlers: HandlersOf<typeof tasksContract> = {
  async 'GET /accounts/:account_id/tasks'({ params, query }, { sql }) {
    const filter = { ...query, accountId: params.account_id, limit: query.limit + 1 }
    return toPage(await selectTaskList(sql, filter), query.limit, 'id')
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
