/** Operators: calls, tasks and deliveries of all accounts. */

import { z } from 'zod'
import {
  DELIVERY_STATES,
  ENDED_STATUSES,
  TASK_KINDS,
  TASK_STATES,
} from '../../../../base/lib/kinds-and-states.ts'
import { storedList } from '../../../endpoints/codecs.ts'
import {
  hostFilter,
  redeliverAnswer,
  redeliverBody,
} from '../../../endpoints/webhooks/webhook-schemas.ts'
import { amount, page, paging, span, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const account = { account_id: z.string(), account_name: z.string() }

const attempt = z.object({
  channel: z.string(),
  outcome: z.string(),
  status: z.number().nullable().describe('The vendor’s HTTP status, if it answered.'),
  reason: z.string().nullable().describe('What the vendor said, or what went wrong.'),
  milliseconds: z.number().nullable(),
})
const storedAttempt = attempt.extend({
  status: attempt.shape.status.default(null),
  reason: attempt.shape.reason.default(null),
  milliseconds: attempt.shape.milliseconds.default(null),
})

export const operatorCall = z.object({
  ...account,
  request_id: z.string(),
  created_at: time,
  finished_at: time,
  endpoint: z.string(),
  model: z.string(),
  key_id: z.string(),
  task_id: z.string().nullable(),
  status: z.string(),
  basis: z.string(),
  review: z.boolean(),
  currency: z.string(),
  held: amount,
  charged: amount,
  upstream_cost: amount.nullable().describe('Upstream cost; null: unknown.'),
  margin: amount.nullable(),
  channel: z.string().nullable().describe('The last channel tried.'),
  end_user: z.string().nullable().describe('The end user that the request named.'),
  attempts: z.number(),
  tries: storedList(attempt, storedAttempt).describe('The attempts, in order.'),
  error: z.string().nullable(),
})

export const operatorTask = z.object({
  ...account,
  id: z.string(),
  kind: z.enum(TASK_KINDS),
  model: z.string(),
  status: z.string(),
  channel: z.string(),
  upstream_id: z.string().nullable(),
  polls: z.number(),
  failures: z.number().describe('Consecutive failed polls.'),
  next_poll_at: time.nullable(),
  error: z.string().nullable(),
  request_id: z.string(),
  created_at: time,
  finished_at: time.nullable(),
})

export const operatorDelivery = z.object({
  ...account,
  id: z.string(),
  task_id: z.string().nullable(),
  kind: z.string(),
  url: z.string(),
  state: z.enum(DELIVERY_STATES),
  attempts: z.number(),
  last_status: z.number().nullable(),
  last_error: z.string().nullable(),
  redelivery_of: z.string().nullable(),
  redelivered_as: z.string().nullable().describe('The delivery that sent this one again.'),
  created_at: time,
  finished_at: time.nullable(),
})

const shared = { role: 'operator', tag: 'Operators: work' } as const
const accountFilter = { account: text(100).optional().describe('An account id.') }

export const operatorWorkContract = area(shared, {
  'GET /operator/calls': {
    summary: 'List calls of all accounts, newest first',
    query: z.object({
      ...paging,
      ...span,
      ...accountFilter,
      model: text(200).optional(),
      endpoint: text(100).optional(),
      status: z.enum(ENDED_STATUSES).optional(),
      review: z.stringbool().optional().describe('Only calls marked for review.'),
      request_id: text(100).optional(),
      loss: z
        .stringbool()
        .optional()
        .describe('Only calls whose upstream cost exceeds the charge.'),
    }),
    answer: page(operatorCall),
  },
  'GET /operator/tasks': {
    summary: 'List tasks of all accounts, newest first',
    query: z.object({
      ...paging,
      ...span,
      ...accountFilter,
      kind: z.enum(TASK_KINDS).optional(),
      status: z.enum(['open', 'submitting', ...TASK_STATES]).optional(),
      channel: text(100).optional(),
      id: text(200).optional().describe('The gateway’s id or the upstream’s.'),
    }),
    answer: page(operatorTask),
  },
  'GET /operator/deliveries': {
    summary: 'List webhook deliveries of all accounts, newest first',
    query: z.object({
      ...paging,
      ...span,
      ...accountFilter,
      host: hostFilter.optional(),
      state: z.enum(DELIVERY_STATES).optional(),
      task_id: text(100).optional(),
      id: text(100).optional(),
    }),
    answer: page(operatorDelivery),
  },
  'POST /operator/deliveries/redeliver': {
    summary: 'Redeliver the webhooks dropped in a period',
    description:
      'Sends each of them that has not been sent again yet, oldest first, of one account or of ' +
      'all. To redeliver a single one, use the path of its account.',
    body: redeliverBody.extend(accountFilter),
    answer: redeliverAnswer,
  },
} as const satisfies Routes<keyof typeof shared>)
