/** The public form of webhook deliveries. */
import { z } from 'zod'
import { GatewayError } from '../../lib/errors.ts'
import type { AttemptView, DeliveryRow } from '../../webhooks/store.ts'

const attempt = z.object({
  number: z.number().int(),
  started_at: z.iso.datetime(),
  outcome: z
    .enum(['accepted', 'refused', 'lost'])
    .nullable()
    .describe('null while in progress; lost if its sender died.'),
  status: z.number().int().nullable().describe('The HTTP status of the receiver.'),
  error: z.string().nullable(),
  latency_ms: z.number().int().nullable(),
  answer: z.string().nullable().describe("The first KB of the receiver's answer, as text."),
})

export const deliverySchema = z.object({
  id: z.string(),
  task_id: z.string().nullable().describe('null for a test.'),
  kind: z.string(),
  url: z.string(),
  status: z.enum(['pending', 'delivered', 'dropped']),
  redelivery_of: z.string().nullable(),
  next_attempt_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
  attempts: z.array(attempt),
})

export type Delivery = z.infer<typeof deliverySchema>

export function describeDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    task_id: row.task_id,
    kind: row.kind,
    url: row.url,
    status: row.state,
    redelivery_of: row.redelivery_of,
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    attempts: row.history.map(describeAttempt),
  }
}

export function noDelivery(): GatewayError {
  return new GatewayError('not_found', { message: 'no such delivery' })
}

function describeAttempt(view: AttemptView): z.infer<typeof attempt> {
  return {
    ...view,
    started_at: new Date(view.started_at).toISOString(),
    answer: view.answer === null ? null : Buffer.from(view.answer, 'base64').toString('utf8'),
  }
}

/** The example of the reference: refused once, then accepted. */
export const EXAMPLE_DELIVERY: Delivery = {
  id: 'whd_8Ucq4kFh2Zx9mB1yTtRw6N',
  task_id: 'task_3VbJ8sYpQe5wKd7nXf0aLg',
  kind: 'video',
  url: 'https://example.com/hooks/tributary',
  status: 'delivered',
  redelivery_of: null,
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
