/** Operators: models, their routes, limits and versioned prices. */
import { z } from 'zod'
import { decimalAmount } from '../../../endpoints/codecs.ts'
import { serial, text, time } from '../../common-schemas.ts'
import { CREATES_ONLY, changesOnly } from '../../preconditions.ts'
import { area, type Routes } from '../../route.ts'

export const adminPrice = z.object({
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
  costs: z.array(adminPrice).optional().describe('Upstream costs; absent: unknown.'),
  currency: z.string().optional().describe('Currency of the costs.'),
  upstream_cost_version: z.string().optional(),
})

export const margin = z.object({
  channel: z.string(),
  upstream_model: z.string(),
  unit: z.string(),
  per: z.number(),
  when: z.record(z.string(), z.unknown()).optional(),
  price: z.string(),
  upstream_cost: z.string().nullable().describe('Upstream cost of as many units; null: unknown.'),
  margin: z.string().nullable(),
  margin_share: z
    .number()
    .nullable()
    .describe('As a share of the price, from 0 to 1; below 0: a loss.'),
})

const problem = z.object({
  problem: z.enum(['unpriced', 'below_cost', 'unknown_cost']),
  unit: z.string().nullable(),
  channel: z.string().nullable(),
})

const planned = z.object({
  version: serial,
  effective_from: time,
  prices: z.array(adminPrice),
  source: z.string().describe('The file that planned it, or the console.'),
  price_problems: z.array(problem),
})

const takenOut = z.object({
  tool: z.string().describe('Its kind, for example `web_search`; `other` for unknown ones.'),
  unit: z
    .string()
    .nullable()
    .describe('The unit to set a price for, so that it is sold; null: there is none.'),
  answers: z.number().describe('Number of answers to requests that offered it.'),
  first_at: time,
  last_at: time,
  list: z
    .object({ vendor: z.string(), currency: z.string(), prices: z.array(adminPrice) })
    .nullable()
    .describe('The list prices of the unit at the vendor; null: unknown.'),
})

const model = z.object({
  id: z.string(),
  type: z.string(),
  status: z.enum(['active', 'retired']),
  free: z.boolean(),
  currency: z.string().nullable(),
  prices: z.array(adminPrice),
  price_version: z.string().nullable(),
  routes: z.array(route),
  fallbacks: z
    .array(z.object({ model: z.string(), priority: z.number() }))
    .describe('Models that serve calls at their own prices if no route does.'),
  limits: z.record(z.string(), z.number()),
  details: z.record(z.string(), z.unknown()),
  unpriced_tools: z.enum(['take_out', 'refuse']),
  routing: z.enum(['priority', 'cheapest']),
  route_order: z
    .array(
      z.object({
        channel: z.string(),
        upstream_model: z.string(),
        expected_cost: decimalAmount
          .nullable()
          .describe('Of a typical call; null: unknown, or the order is by priority.'),
        because: z
          .enum(['only_route', 'cost', 'unknown_cost', 'priority', 'weight'])
          .describe('Why it comes before the next route, or why the last route comes last.'),
        is_usable: z.boolean().describe('False: its channel is paused or cannot be used.'),
      }),
    )
    .describe('The order in which routes are tried while all of them work.'),
  tools_taken_out: z
    .array(takenOut)
    .describe('Tools that the gateway takes out of requests because they have no price.'),
  source: z.string(),
  revision: z
    .string()
    .describe('Differs after each change, including planned prices that take effect.'),
  warnings: z.array(z.string()).describe('Problems with the current definition.'),
  effective_from: time.nullable().describe('Start of the current prices.'),
  planned_prices: z.array(planned).describe('Future prices, the next one first.'),
  margins: z.array(margin).describe('Each price compared with the costs of each route.'),
  price_problems: z.array(problem),
  updated_at: time,
})

const priceVersion = z.object({
  version: serial,
  effective_from: time,
  created_at: time,
  state: z.enum(['planned', 'current', 'past', 'withdrawn']),
  currency: z.string(),
  prices: z.array(adminPrice),
})

/** The members of a model in a catalog file, which reads them. */
const draft = z.object({
  type: z.string(),
  free: z.boolean().optional(),
  prices: z.array(z.looseObject({})).optional(),
  routes: z.array(z.looseObject({})),
  limits: z.looseObject({}).optional(),
  unpriced_tools: z.string().optional().describe('take_out or refuse.'),
  routing: z.string().optional().describe('priority or cheapest.'),
  details: z.looseObject({}).optional(),
})
const currency = z.string().default('CNY')

const shared = { role: 'operator', tag: 'Operators: models' } as const

export const operatorModelsContract = area(shared, {
  'GET /operator/models': {
    summary: 'List models',
    query: z.object({
      type: text(40).optional(),
      search: text(200).optional(),
      retired: z.stringbool().default(false),
    }),
    answer: z.object({ data: z.array(model) }),
  },
  'GET /operator/models/:model_id': {
    summary: 'Get a model with its price history',
    description: 'A call is settled at the prices in force when its hold was taken.',
    answer: model.extend({ price_history: z.array(priceVersion) }),
    errors: [404],
  },
  'PUT /operator/models/:model_id': {
    summary: 'Create a model or change it',
    description:
      'Takes the same members as a model in a catalog file. New prices create a version that ' +
      `applies to calls from then on. ${CREATES_ONLY} ${changesOnly('`revision`')}`,
    errors: [409],
    body: draft.extend({ currency }),
    stepUp: true,
    answer: model,
  },
  'POST /operator/models': {
    summary: 'Add several models',
    description:
      'Adds all or none. Refused if one of them is already for sale: existing models are never ' +
      'changed.',
    errors: [409],
    body: z.object({
      currency,
      models: z
        .array(draft.extend({ id: text(128) }))
        .min(1)
        .max(100),
    }),
    stepUp: true,
    answer: z.object({ data: z.array(model) }),
  },
  'POST /operator/models/:model_id/planned-prices': {
    summary: 'Plan prices',
    description:
      'They apply to calls from the given moment, by the database’s clock, on every ' +
      'gateway. Existing holds are settled at their own prices. A plan for the same ' +
      'moment is replaced.',
    body: z.object({
      effective_from: text(40).describe('With its zone: 2027-01-01T00:00:00+08:00.'),
      until: text(40).optional().describe('When the previous prices are in force again.'),
      prices: z.array(z.looseObject({})),
    }),
    stepUp: true,
    answer: model,
    errors: [404],
  },
  'DELETE /operator/models/:model_id/planned-prices/:version': {
    summary: 'Withdraw planned prices',
    description: 'Only before they take effect.',
    stepUp: true,
    errors: [404],
  },
  'DELETE /operator/models/:model_id': {
    summary: 'Retire a model',
    stepUp: true,
    errors: [404],
  },
} as const satisfies Routes<keyof typeof shared>)
