/** The public form of webhook deliveries. */

import { z } from 'zod'
import { GatewayError } from '../../../base/lib/errors.ts'
import { DELIVERY_OUTCOMES, DELIVERY_STATES } from '../../../base/lib/kinds-and-states.ts'
import type { DeliveryRow } from '../../../work/webhooks/store.ts'
import { base64Text, encode, type SchemaRow, storedTime, time, timestamp } from '../codecs.ts'

const attempt = z.object({
  number: z.number().int(),
  started_at: storedTime,
  outcome: z
    .enum(DELIVERY_OUTCOMES)
    .nullable()
    .describe('null while in progress; lost if its sender died.'),
  status: z.number().int().nullable().describe('The HTTP status of the receiver.'),
  error: z.string().nullable(),
  latency_ms: z.number().int().nullable(),
  answer: base64Text.nullable().describe("The first KB of the receiver's answer, as text."),
})

export const deliverySchema = z.object({
  id: z.string(),
  task_id: z.string().nullable().describe('null for a test.'),
  kind: z.string(),
  url: z.string(),
  status: z.enum(DELIVERY_STATES),
  redelivery_of: z.string().nullable().describe('The first delivery, whose bytes it sends again.'),
  redelivered_as: z.string().nullable().describe('The delivery that sent this one again.'),
  next_attempt_at: time.nullable(),
  created_at: time,
  finished_at: time.nullable(),
  attempts: z.array(attempt),
})

const HOST_LENGTH_MAX = 300

/** A receiver's host in a filter. */
export const hostFilter = z
  .string()
  .trim()
  .min(1)
  .max(HOST_LENGTH_MAX)
  .regex(/^[^\s/\0]+$/, 'must be a host such as example.com or example.com:8443')
  .describe('The receiver’s host, with or without its port.')

/** The body of a request to send dropped deliveries again. */
export const redeliverBody = z.strictObject({
  from: timestamp.describe('Deliveries created at or after this time.'),
  to: timestamp.describe('And before this one; at most 24 hours later.'),
  host: hostFilter.optional(),
  dry_run: z.boolean().optional().describe('True: only counts them.'),
})

export const redeliverAnswer = z.object({
  redelivered: z.int().describe('At most 500 at a time.'),
  remaining: z
    .int()
    .describe('Dropped deliveries that match and were not sent again yet; at most 10000.'),
})

/** Reads the times of a request to send again. */
export function readDroppedFilter({ from, to, host }: z.infer<typeof redeliverBody>) {
  return { from: new Date(from), to: new Date(to), host }
}

export function readDelivery(row: DeliveryRow): SchemaRow<typeof deliverySchema> {
  const { state: status, repeated_by: repeatedBy, history: attempts } = row
  return { ...row, status, redelivered_as: repeatedBy, attempts }
}

export function showDelivery(row: DeliveryRow) {
  return encode(deliverySchema, readDelivery(row))
}

export function noDelivery(): GatewayError {
  return new GatewayError('not_found', { message: 'no such delivery' })
}

/** The example of the reference: refused once, then accepted. */
export const EXAMPLE_DELIVERY: z.input<typeof deliverySchema> = {
  id: 'whd_8Ucq4kFh2Zx9mB1yTtRw6N',
  task_id: 'task_3VbJ8sYpQe5wKd7nXf0aLg',
  kind: 'video',
  url: 'https://example.com/hooks/tributary',
  status: 'delivered',
  redelivery_of: null,
  redelivered_as: null,
  next_attempt_at: null,
  created_at: '2026-11-21T09:30:00.000Z',
  finished_at: '2026-11-21T09:30:05.310Z',
  attempts: [
    {
      number: 1,
      started_at: '2026-11-21T09:30:00.004Z',
      outcome: 'refused',
      status: 503,
      error: 'the receiver answered 503',
      latency_ms: 87,
      answer: 'starting up',
    },
    {
      number: 2,
      started_at: '2026-11-21T09:30:05.215Z',
      outcome: 'accepted',
      status: 204,
      error: null,
      latency_ms: 92,
      answer: '',
    },
  ],
}
