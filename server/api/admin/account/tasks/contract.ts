/** The tasks of an account: state, charge and timeline. */

import { z } from 'zod'
import {
  ASSET_KINDS,
  COPY_STATES,
  TASK_KINDS,
  TASK_STATES,
} from '../../../../base/lib/kinds-and-states.ts'
import { timelineEvent } from '../../../endpoints/account/task-timeline.ts'
import { amount, page, paging, span, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const shared = { tag: 'Console: tasks' } as const

const kind = z.enum(TASK_KINDS)
const status = z.enum(TASK_STATES)

export const task = z.object({
  id: z.string(),
  kind,
  model: z.string(),
  status,
  key_id: z.string(),
  request_id: z.string().describe('Its usage record.'),
  currency: z.string(),
  held: amount.describe('The hold taken when it was created; 0 once its call is archived.'),
  charged: amount.nullable().describe('Null until the task ends.'),
  callback: z
    .object({
      url: z.string(),
      status: z.enum(['waiting', 'pending', 'delivered', 'dropped']),
      attempts: z.int(),
    })
    .nullable()
    .describe('`waiting`: the task has not ended. Null: no webhook was requested.'),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  elapsed_ms: z.int().describe('From creation to end, or until now.'),
  created_at: time,
  finished_at: time.nullable(),
})

const media = z.object({
  asset_id: z.string(),
  kind: z.enum(ASSET_KINDS),
  url: z.string().nullable(),
  content_type: z.string().nullable(),
  state: z.enum(COPY_STATES).describe('State of the copy in the gateway’s storage.'),
})

const detail = task.extend({
  upstream_id: z.string().nullable(),
  polls: z.int().describe('Number of polls of the upstream.'),
  next_poll_at: time.nullable(),
  request: z.looseObject({}).describe('The request, without its content.'),
  result: z.looseObject({}).nullable(),
  usage: z.record(z.string(), z.number()).nullable(),
  media: z.array(media),
})

export const tasksContract = area(shared, {
  'GET /accounts/:account_id/tasks': {
    role: 'member',
    summary: 'List the tasks of an account',
    description: 'Newest first.',
    query: z.object({
      ...paging,
      ...span,
      kind: kind.optional(),
      status: status.optional(),
      model: text(200).optional(),
      id: text(200).optional().describe('The gateway’s id or the upstream’s.'),
    }),
    answer: page(task),
  },
  'GET /accounts/:account_id/tasks/:task_id': {
    role: 'member',
    summary: 'Get a task',
    answer: detail,
  },
  'GET /accounts/:account_id/tasks/:task_id/timeline': {
    role: 'member',
    summary: 'Get the timeline of a task',
    answer: z.object({
      events: z.array(timelineEvent),
    }),
  },
  'POST /accounts/:account_id/tasks/:task_id/cancel': {
    role: 'developer',
    summary: 'Cancel a queued task or a background response',
    answer: detail,
    errors: [409, 502],
  },
} as const satisfies Routes<keyof typeof shared>)
