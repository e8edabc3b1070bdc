/** GET /v1/models and /v1/models/{id}: OpenAI's list, with types, prices and endpoints added. */
import { z } from 'zod'
import { sendJson } from '../../../base/http/reply.ts'
import { GatewayError, invalidField } from '../../../base/lib/errors.ts'
import { formatAmount } from '../../../base/lib/money.ts'
import type { Caller } from '../../../money/accounts/accounts.ts'
import {
  isSoldIn,
  MODEL_TYPES,
  type Model,
  type PriceEntry,
} from '../../../money/catalog/catalog.ts'
import { writtenPrices } from '../../../money/catalog/load/load-model.ts'
import {
  describeImageFields,
  describeVideoFields,
  type ModelField,
} from '../../../wire/dialects/fields/model-field.ts'
import { viewOf } from '../../../work/pipeline/request/customer-view.ts'
import type { AccountEndpoint, PlainServices } from '../endpoint.ts'
import { isServed, meteringOf, toTemplate } from '../serving.ts'

export const modelPrice = z.object({
  unit: z.string().describe('The priced unit, for example input_token.'),
  per: z.int().describe('Number of units that the amount buys.'),
  amount: z.string().describe('Decimal, in the account’s currency.'),
  when: z.looseObject({}).optional().describe('Conditions; the first price that applies counts.'),
})

export const modelField = z.object({
  name: z.string(),
  type: z.enum(['string', 'integer', 'boolean', 'array', 'any']),
  values: z
    .array(z.union([z.string(), z.number()]))
    .optional()
    .describe('The allowed values; for content, the types of its items.'),
  min: z.number().optional(),
  max: z.number().optional(),
  also: z
    .number()
    .optional()
    .describe('A value outside the range that is taken too: -1 lets the model choose the length.'),
  default: z
    .union([z.string(), z.number(), z.boolean()])
    .optional()
    .describe('Used if the request has none.'),
  required: z.boolean(),
})

const modelAnswer = z.object({
  id: z.string().describe('The model name in requests.'),
  object: z.literal('model'),
  created: z.int().describe('Time of the last change, in Unix seconds.'),
  created_at: z.string().describe('The same time in ISO 8601, for clients of the Messages API.'),
  owned_by: z.string(),
  display_name: z.string(),
  type: z.literal('model'),
  model_type: z.enum(MODEL_TYPES),
  prices: z.array(modelPrice),
  free: z.boolean().describe('Calls to it cost nothing.'),
  endpoints: z.array(z.string()).describe('Paths that accept this model.'),
  context_window: z.int().optional().describe('Tokens of input and output together.'),
  max_output_tokens: z.int().optional(),
  recordings: z
    .object({
      taken: z.array(z.string()).describe('Formats that are sent unchanged.'),
      converted: z.array(z.string()).describe('Formats that the gateway converts; may be none.'),
    })
    .optional()
    .describe('For minutes models that accept only some formats.'),
  fields: z
    .array(modelField)
    .optional()
    .describe(
      'For video and image models: the fields that a request may have. Any other gets a 400.',
    ),
  abilities: z.array(z.string()).optional().describe('Such as tools, vision or reasoning.'),
})

export function describePrices(prices: readonly PriceEntry[]): z.infer<typeof modelPrice>[] {
  return prices.map(({ unit, per, amountNanos, when }) => ({
    unit,
    per,
    amount: formatAmount(amountNanos),
    ...(when ? { when: { ...when } } : {}),
  }))
}

/** Returns the paths on which the model can be called. */
function endpointsOf(model: Model, services: PlainServices): string[] {
  const callable = services.endpoints().filter((endpoint) => isServed(endpoint, model, services))
  return callable.map(({ paths }) => toTemplate(paths[0]))
}

export function describeCallableModel(
  model: Model,
  services: PlainServices,
): z.infer<typeof modelAnswer> {
  const { display_name: displayName, owned_by: ownedBy } = model.details
  return {
    id: model.id,
    object: 'model',
    created: Math.floor(model.updatedAt.getTime() / 1000),
    created_at: model.updatedAt.toISOString(),
    owned_by: typeof ownedBy === 'string' ? ownedBy : 'tributary',
    display_name: typeof displayName === 'string' ? displayName : model.id,
    type: 'model',
    model_type: model.type,
    prices: describePrices(writtenPrices(model)),
    free: model.free,
    endpoints: [...endpointsOf(model, services)],
    ...describeFields(model, services),
    ...describeRecordings(model, services),
    ...describeLimits(model),
  }
}

/** Returns the fields that the first route with rules takes; the others may take fewer. */
function describeFields(model: Model, { catalog, upstreams }: PlainServices) {
  const { type, details, routes } = model
  if (type !== 'video' && type !== 'image') return {}
  const { channels } = catalog.snapshot()
  for (const { channel, upstreamModel } of routes) {
    const target = channels.get(channel)
    const upstream = target && upstreams.get(target.upstream)
    if (!upstream) continue
    if (type === 'image') {
      return { fields: toFields(describeImageFields(upstream.images?.(upstreamModel) ?? {})) }
    }
    const { settings } = target
    const rules = upstream.tasks?.video?.rules?.({ settings, upstreamModel, details })
    if (rules) return { fields: toFields(describeVideoFields(rules)) }
  }
  return {}
}

function toFields(fields: readonly ModelField[]): z.infer<typeof modelField>[] {
  return fields.map(({ values, ...field }) => {
    return values === undefined ? field : { ...field, values: [...values] }
  })
}

/** Returns the formats of recordings, unless a route of the model takes any. */
function describeRecordings(model: Model, { catalog, upstreams, tasks }: PlainServices) {
  if (model.type !== 'minutes') return {}
  const { channels } = catalog.snapshot()
  const drivers = model.routes.flatMap(({ channel }) => {
    return upstreams.get(channels.get(channel)?.upstream ?? '')?.tasks?.minutes ?? []
  })
  const [first] = drivers
  if (!first?.recordings || drivers.some(({ recordings }) => !recordings)) return {}
  const { taken, converted } = first.recordings
  const recordings = {
    taken: [...taken],
    converted: tasks.convertsRecordings ? [...converted] : [],
  }
  return { recordings }
}

const stated = modelAnswer.pick({ context_window: true, abilities: true })

function describeLimits({ details, limits }: Model) {
  const { max_output_tokens: maxOutputTokens } = limits
  return {
    ...(stated.safeParse(details).data ?? {}),
    max_output_tokens: maxOutputTokens,
  }
}

/** Returns true if the caller may call the model and an endpoint of this site accepts it. */
function isVisible(model: Model, caller: Caller, { endpoints }: PlainServices): boolean {
  const { id, type } = model
  if (caller.models !== null && !caller.models.includes(id)) return false
  if (!isSoldIn(model, caller.currency)) return false
  return endpoints().some((endpoint) => meteringOf(endpoint)?.modelTypes.includes(type))
}

const listQuery = z.object({
  type: z.enum(MODEL_TYPES).optional().describe('Only models of this type.'),
})

export const listModels: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/models'],
  envelope: 'nested',
  documentation: {
    summary: 'List the models',
    description: 'The models that this key may call, with their prices in the account’s currency.',
    tag: 'Models',
    query: listQuery,
    answer: z.object({
      object: z.literal('list'),
      data: z.array(modelAnswer),
      has_more: z.literal(false),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
    }),
    example: () => ({ path: '/v1/models?type=chat' }),
    errors: [400, 403],
  },
  async handle(context, caller, services) {
    const type = context.query.get('type')
    if (type !== null && !MODEL_TYPES.some((known) => known === type)) {
      throw invalidField('type', `one of ${MODEL_TYPES.join(', ')}`)
    }
    const data = [...viewOf(caller, services).models.values()]
      .filter(
        (model) => isVisible(model, caller, services) && (type === null || model.type === type),
      )
      .map((model) => describeCallableModel(model, services))
    const firstId = data[0]?.id ?? null
    const lastId = data.at(-1)?.id ?? null
    sendJson(context, 200, {
      object: 'list',
      data,
      has_more: false,
      first_id: firstId,
      last_id: lastId,
    })
  },
}

export const getModel: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/models/*'],
  envelope: 'nested',
  documentation: {
    summary: 'Get one model',
    description: 'A model id may contain slashes.',
    tag: 'Models',
    answer: modelAnswer,
    example: (model) => ({
      path: `/v1/models/${model}`,
      answer: {
        id: model,
        object: 'model',
        created: 1794268800,
        created_at: '2026-11-10T00:00:00.000Z',
        owned_by: 'tributary',
        display_name: model,
        type: 'model',
        model_type: 'chat',
        prices: [
          { unit: 'input_token', per: 1000000, amount: '0.15' },
          { unit: 'output_token', per: 1000000, amount: '0.6' },
        ],
        free: false,
        endpoints: ['/v1/chat/completions', '/v1/responses', '/v1/messages'],
      },
    }),
    errors: [403, 404],
  },
  async handle(context, caller, services) {
    const model = viewOf(caller, services).models.get(context.params['*'] ?? '')
    if (!model || !isVisible(model, caller, services)) {
      throw new GatewayError('not_found', {
        message: 'no such model: GET /v1/models lists all',
        code: 'model_not_found',
      })
    }
    sendJson(context, 200, describeCallableModel(model, services))
  },
}
