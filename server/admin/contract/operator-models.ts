/** Operators: models, their routes, limits and versioned prices. */
import { z } from 'zod'
import { text, time } from './common.ts'
import type { Contract } from './route.ts'

const price = z.object({
  unit: z.string(),
  per: z.number(),
  amount: z.string(),
  when: z.record(z.string(), z.unknown()).optional(),
})

const route = z.object({
  channel: z.string(),
  upstream_model: z.string(),
  priority: z.number(),
  weight: z.number(),
})

const model = z.object({
  id: z.string(),
  type: z.string(),
  status: z.enum(['active', 'retired']),
  free: z.boolean(),
  currency: z.string().nullable(),
  prices: z.array(price),
  price_version: z.string().nullable(),
  routes: z.array(route),
  limits: z.record(z.string(), z.number()),
  details: z.record(z.string(), z.unknown()),
  source: z.string(),
  warnings: z.array(z.string()).describe('What will not work as it is.'),
  updated_at: time,
})

const priceVersion = z.object({
  version: z.string(),
  effective_from: time,
  currency: z.string(),
  prices: z.array(price),
})

const tag = 'Operators: models'

export const operatorModelsContract = {
  'GET /operator/models': {
    role: 'operator',
    tag,
    summary: 'List models',
    query: z.object({
      type: text(40).optional(),
      search: text(200).optional(),
      retired: z.stringbool().default(false),
    }),
    answer: z.object({ data: z.array(model) }),
  },
  'GET /operator/models/:model_id': {
    role: 'operator',
    tag,
    summary: 'Get a model with the history of its prices',
    description: 'A call is settled by the prices that held when its money was frozen.',
    answer: model.extend({ price_history: z.array(priceVersion) }),
    errors: [404],
  },
  'PUT /operator/models/:model_id': {
    role: 'operator',
    tag,
    summary: 'Create a model or change it',
    description:
      'The members are those of a catalog file’s model. New prices make a version and hold ' +
      'for calls from then on.',
    body: z.object({
      type: z.string(),
      currency: z.string().default('CNY'),
      free: z.boolean().optional(),
      prices: z.array(z.looseObject({})).optional(),
      routes: z.array(z.looseObject({})),
      limits: z.looseObject({}).optional(),
      details: z.looseObject({}).optional(),
    }),
    stepUp: true,
    answer: model,
  },
  'DELETE /operator/models/:model_id': {
    role: 'operator',
    tag,
    summary: 'Retire a model',
    stepUp: true,
    errors: [404],
  },
} as const satisfies Contract
