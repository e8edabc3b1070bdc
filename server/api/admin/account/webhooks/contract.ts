/** The webhooks of an account: their secret, and every delivery with its attempts. */

import { z } from 'zod'
import { DELIVERY_OUTCOMES, DELIVERY_STATES } from '../../../../base/lib/kinds-and-states.ts'
import {
  deliverySchema,
  hostFilter,
  redeliverAnswer,
  redeliverBody,
} from '../../../endpoints/webhooks/webhook-schemas.ts'
import { page, paging, span, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const shared = { tag: 'Console: webhooks' } as const

const status = z.enum(DELIVERY_STATES)

export const listed = deliverySchema.omit({ attempts: true }).extend({
  attempts: z.int().describe('Attempts so far; at most four.'),
  last: z
    .object({
      outcome: z.enum(DELIVERY_OUTCOMES).nullable(),
      status: z.int().nullable(),
      error: z.string().nullable(),
      latency_ms: z.int().nullable(),
    })
    .nullable()
    .describe('The last attempt.'),
})

const masked = z.object({
  secret: z.string().describe('The masked secret.'),
  previous_valid_until: time.nullable().describe('Until then the previous secret signs too.'),
})

const revealed = masked.extend({ secret: z.string().describe('Starts with `whsec_`.') })

export const webhooksContract = area(shared, {
  'GET /accounts/:account_id/webhooks/secret': {
    role: 'member',
    summary: 'Get the webhook secret, masked',
    answer: masked,
  },
  'POST /accounts/:account_id/webhooks/secret/reveal': {
    role: 'owner',
    stepUp: true,
    summary: 'Show the webhook secret',
    answer: revealed,
  },
  'POST /accounts/:account_id/webhooks/secret/rotate': {
    role: 'owner',
    stepUp: true,
    summary: 'Rotate the webhook secret',
    description: 'The previous secret keeps signing beside the new one for 24 hours.',
    answer: revealed,
  },
  'GET /accounts/:account_id/webhooks/deliveries': {
    role: 'member',
    summary: 'List webhook deliveries',
    description: 'Newest first.',
    query: z.object({
      ...paging,
      ...span,
      status: status.optional(),
      task_id: text(200).optional(),
      host: hostFilter.optional(),
    }),
    answer: page(listed),
  },
  'GET /accounts/:account_id/webhooks/deliveries/:delivery_id': {
    role: 'member',
    summary: 'Get a delivery with its attempts',
    answer: deliverySchema.extend({
      body: z.string().nullable().describe('The request body, up to 64 KB.'),
    }),
  },
  'POST /accounts/:account_id/webhooks/deliveries/:delivery_id/redeliver': {
    role: 'developer',
    summary: 'Redeliver a webhook',
    description:
      'Sends the same bytes to the same URL, as a new delivery. This happens once per ' +
      'delivery: a repeated request returns the same new delivery.',
    answer: deliverySchema,
    errors: [409, 429],
  },
  'POST /accounts/:account_id/webhooks/deliveries/redeliver': {
    role: 'developer',
    summary: 'Redeliver the webhooks dropped in a period',
    description: 'Sends each of them that has not been sent again yet, oldest first.',
    body: redeliverBody,
    answer: redeliverAnswer,
    errors: [429],
  },
  'POST /accounts/:account_id/webhooks/test': {
    role: 'owner',
    summary: 'Send a test webhook',
    body: z.strictObject({ url: text(2048).min(1) }),
    answer: deliverySchema,
    errors: [429],
  },
} as const satisfies Routes<keyof typeof shared>)
