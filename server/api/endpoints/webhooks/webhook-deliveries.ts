/** /v1/webhooks/deliveries: lists deliveries with their attempts, and redelivers. */

import { z } from 'zod'
import { readJsonBody } from '../../../base/http/body.ts'
import { checkQuery, checkShape } from '../../../base/http/check-shape.ts'
import type { Context } from '../../../base/http/context.ts'
import { toPage } from '../../../base/http/page.ts'
import { sendJson } from '../../../base/http/reply.ts'
import { isObject, tryParseJson } from '../../../base/lib/json.ts'
import { DELIVERY_STATES } from '../../../base/lib/kinds-and-states.ts'
import { dropUnset } from '../../../work/pipeline/request/unset.ts'
import type { DeliveryFilter } from '../../../work/webhooks/store.ts'
import { encode, givenTime, page } from '../codecs.ts'
import type { AccountEndpoint } from '../endpoint.ts'
import {
  deliverySchema,
  EXAMPLE_DELIVERY,
  hostFilter,
  noDelivery,
  readDelivery,
  readDroppedFilter,
  redeliverAnswer,
  redeliverBody,
  showDelivery,
} from './webhook-schemas.ts'

const BODY_BYTES_MAX = 16 * 1024

const listQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(20),
  cursor: z
    .string()
    .regex(/^(?:whd_[0-9A-Za-z]{1,64})?$/, 'not a cursor of this list')
    .optional()
    .describe('next_cursor of the previous page.'),
  task_id: z.string().max(200).optional().describe('Either id of the task.'),
  status: z.enum(DELIVERY_STATES).optional(),
  host: hostFilter.optional(),
  from: givenTime.optional().describe('Created at or after this time.'),
  to: givenTime.optional().describe('Created before this time.'),
})

function readFilter(context: Context, accountId: string): DeliveryFilter {
  const { cursor, task_id: taskId, status, ...rest } = checkQuery(listQuery, context.query)
  return {
    ...rest,
    accountId,
    after: cursor || undefined,
    taskId: taskId || undefined,
    state: status,
  }
}

const deliveryPage = page(deliverySchema)

export const listDeliveries: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/webhooks/deliveries'],
  envelope: 'flat',
  documentation: {
    summary: 'List webhook deliveries',
    description: 'Newest first, each with its attempts.',
    tag: 'Webhooks',
    query: listQuery,
    answer: deliveryPage,
    example: () => ({
      path: '/v1/webhooks/deliveries?status=delivered',
      answer: { data: [EXAMPLE_DELIVERY], next_cursor: null },
    }),
    errors: [400, 403, 503],
  },
  async handle(context, caller, { webhooks }) {
    const filter = readFilter(context, caller.accountId)
    const rows = await webhooks.list({ ...filter, limit: filter.limit + 1 })
    const deliveries = toPage(rows.map(readDelivery), filter.limit, 'id')
    sendJson(context, 200, encode(deliveryPage, deliveries))
  },
}

export const getDelivery: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/webhooks/deliveries/:delivery_id'],
  envelope: 'flat',
  documentation: {
    summary: 'Get a webhook delivery',
    description: 'With each of its attempts.',
    tag: 'Webhooks',
    answer: deliverySchema,
    example: () => ({
      path: `/v1/webhooks/deliveries/${EXAMPLE_DELIVERY.id}`,
      answer: EXAMPLE_DELIVERY,
    }),
    errors: [403, 404, 503],
  },
  async handle(context, caller, { webhooks }) {
    const row = await webhooks.find(caller.accountId, context.params.delivery_id ?? '')
    if (!row) throw noDelivery()
    sendJson(context, 200, showDelivery(row))
  },
}

export const redeliver: AccountEndpoint = {
  kind: 'account',
  method: 'POST',
  paths: ['/v1/webhooks/deliveries/:delivery_id/redeliver'],
  envelope: 'flat',
  documentation: {
    summary: 'Redeliver a webhook',
    description:
      'Sends the same body to the same URL, as a new delivery with its own four attempts. This ' +
      'happens once per delivery: a repeated request returns the same new delivery, which can ' +
      'itself be sent again.',
    tag: 'Webhooks',
    answer: deliverySchema,
    example: () => ({
      path: `/v1/webhooks/deliveries/${EXAMPLE_DELIVERY.id}/redeliver`,
      answer: {
        ...EXAMPLE_DELIVERY,
        id: 'whd_1Lk7ZsV0xPq9bNfYw3TgRc',
        redelivery_of: EXAMPLE_DELIVERY.id,
        status: 'pending',
        next_attempt_at: '2026-11-21T10:00:00.000Z',
        created_at: '2026-11-21T10:00:00.000Z',
        finished_at: null,
        attempts: [],
      },
    }),
    errors: [403, 404, 409, 429, 503],
  },
  async handle(context, caller, { webhooks }) {
    const row = await webhooks.redeliver(caller.accountId, context.params.delivery_id ?? '')
    if (!row) throw noDelivery()
    sendJson(context, 200, showDelivery(row))
  },
}

export const redeliverDropped: AccountEndpoint = {
  kind: 'account',
  method: 'POST',
  paths: ['/v1/webhooks/deliveries/redeliver'],
  envelope: 'flat',
  documentation: {
    summary: 'Redeliver the webhooks dropped in a period',
    description:
      'Sends again each dropped delivery that has not been sent again yet, oldest first; ' +
      'repeat the request while some remain.',
    tag: 'Webhooks',
    body: redeliverBody,
    answer: redeliverAnswer,
    example: () => ({
      body: { from: '2026-11-21T09:00:00Z', to: '2026-11-21T10:00:00Z', host: 'example.com' },
      answer: { redelivered: 42, remaining: 0 },
    }),
    errors: [400, 403, 413, 415, 429, 503],
  },
  async handle(context, caller, { webhooks }) {
    const sent = tryParseJson(await readJsonBody(context, BODY_BYTES_MAX))
    const body = checkShape(redeliverBody, isObject(sent) ? dropUnset(sent, redeliverBody) : sent)
    const filter = { ...readDroppedFilter(body), accountId: caller.accountId }
    sendJson(context, 200, await webhooks.redeliverDropped(filter, body.dry_run === true))
  },
}
