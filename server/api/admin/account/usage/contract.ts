/** Consumption: each call with its charge lines, and figures over time. */

import { z } from 'zod'
import { ENDED_STATUSES } from '../../../../base/lib/kinds-and-states.ts'
import { explainedUsage } from '../../../endpoints/account/usage-schemas.ts'
import {
  amount,
  count,
  decimal,
  givenTime,
  page,
  paging,
  span,
  text,
  time,
  timeZone,
} from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'
import { describedCall } from './described-call.ts'

const shared = { tag: 'Console: usage' } as const

const order = z.enum(['newest', 'oldest']).default('newest')

const filters = {
  ...span,
  model: text(200).optional(),
  endpoint: text(200).optional(),
  key: text(200).optional().describe('A key id.'),
  member: text(200).optional().describe('A user id: keys that this person created.'),
  tag: text(100).optional(),
  end_user: text(300).optional(),
  status: z.enum(ENDED_STATUSES).optional(),
  request_id: text(200).optional(),
  task_id: text(200).optional(),
  charged_at_least: decimal.optional(),
}

export const figures = {
  calls: count,
  errors: count.describe('Failed and lost calls.'),
  cancelled: count,
  charged: amount,
}

export const latency = z
  .object({ p50_ms: z.int().nullable(), p95_ms: z.int().nullable() })
  .describe(
    'Of successful calls other than tasks, accurate to 10 %; not available by tag or end user. ' +
      'Null: no such calls.',
  )

export const bucket = z.object({ at: time.describe('Start of the bucket.'), ...figures, latency })

export const usageContract = area(shared, {
  'GET /accounts/:account_id/usage': {
    role: 'member',
    summary: 'List the calls of an account',
    description: 'Finished calls, newest first unless `order` is `oldest`.',
    query: z.object({ ...paging, ...filters, order }),
    answer: page(describedCall),
  },
  'GET /accounts/:account_id/usage/summary': {
    role: 'member',
    summary: 'Get an account’s call statistics over time',
    description:
      'Grouped by the hour in which calls began, in whole quarters of an hour from `from` to ' +
      '`to`; empty buckets are omitted. At most 31 days by hour, 400 by day, and 500,000 calls ' +
      'where end users are asked for.',
    query: z.object({
      from: givenTime.optional().describe('24 hours ago by default.'),
      to: givenTime.optional().describe('Now by default.'),
      step: z.enum(['hour', 'day']).default('hour'),
      time_zone: timeZone,
      model: filters.model,
      endpoint: filters.endpoint,
      key: filters.key,
      member: filters.member,
      tag: filters.tag,
      end_user: filters.end_user,
      by: z
        .enum(['model', 'key', 'endpoint', 'tag', 'end_user'])
        .optional()
        .describe(
          'Also group the series by this; the six with the highest charges. By `tag`, calls with ' +
            'the same tags are a group, named `a, b`.',
        ),
    }),
    answer: z.object({
      currency: z.string(),
      from: time,
      to: time,
      step: z.enum(['hour', 'day']),
      totals: z.object({ ...figures, latency }),
      series: z.array(bucket),
      models: z
        .array(z.object({ model: z.string(), ...figures, latency }))
        .describe('At most ten.'),
      keys: z.array(
        z.object({ key_id: z.string(), name: z.string(), display: z.string(), ...figures }),
      ),
      endpoints: z.array(z.object({ endpoint: z.string(), ...figures })),
      groups: z
        .array(
          z.object({
            name: z.string(),
            label: z.string(),
            series: z.array(z.object({ at: time, ...figures })),
          }),
        )
        .describe(
          'Only with `by`; the last, with an empty name, is all others. They add up to the totals.',
        ),
      labels: z
        .array(z.object({ name: z.string(), ...figures }))
        .describe(
          'Only by `tag` or `end_user`: the ten with the highest charges. A call with several ' +
            'tags counts under each.',
        ),
    }),
  },
  'GET /accounts/:account_id/usage/export': {
    role: 'member',
    summary: 'Export calls as CSV or JSON lines',
    description: 'The same filters and order as the list; every record.',
    query: z.object({
      ...filters,
      order,
      format: z.enum(['csv', 'jsonl']).default('csv'),
      columns: text(500)
        .optional()
        .describe('Members of a record, separated by commas; by default all.'),
    }),
    answerType: 'text/csv',
  },
  'GET /accounts/:account_id/usage/:request_id': {
    role: 'member',
    summary: 'Explain one charge',
    description: 'For a running call, only the fields known at its hold.',
    answer: explainedUsage,
  },
} as const satisfies Routes<keyof typeof shared>)
