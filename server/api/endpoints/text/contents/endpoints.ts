/** Google's own paths below a model: answers, embeddings and counts; and its list of models. */
import { z } from 'zod'
import { sendJson } from '../../../../base/http/reply.ts'
import { GatewayError, invalidField } from '../../../../base/lib/errors.ts'
import type { Caller } from '../../../../money/accounts/accounts.ts'
import { isSoldIn, type Model } from '../../../../money/catalog/catalog.ts'
import { viewOf } from '../../../../work/pipeline/request/customer-view.ts'
import { sendsGoogleKey } from '../../../../work/pipeline/request/identify.ts'
import { readJson } from '../../../../work/pipeline/request/read-request.ts'
import { getModel, listModels } from '../../account/models.ts'
import type { AccountEndpoint, Endpoint, MeteredEndpoint, PlainServices } from '../../endpoint.ts'
import { isServed } from '../../serving.ts'
import { readContentsOptions } from '../billing/contents-options.ts'
import { inCamelCase, listEmbedded, measureContents } from '../billing/measure-contents.ts'
import { PLAIN_CONTENTS } from '../billing/plain-members.ts'
import type { TextDialect } from '../billing/text-billing.ts'
import { textEndpoint } from '../text-endpoint.ts'
import { countRequestTokens } from '../tokens/count-json.ts'
import { countInThread } from '../tokens/token-counter.ts'

/** Older clients call the first version, newer ones the second. */
const pathsOf = (method: string): [string, string] => {
  const path = `/models/:model(^.+)::${method}`
  return [`/v1beta${path}`, `/v1${path}`]
}

const dialect: TextDialect = {
  limits: ['max_output_tokens'],
  plain: PLAIN_CONTENTS,
  settings: (value) => {
    const { generationConfig } = inCamelCase(value, '')
    const { maxOutputTokens, candidateCount } = inCamelCase(generationConfig, 'generationConfig')
    return { max_output_tokens: maxOutputTokens, n: candidateCount }
  },
  measure: measureContents,
  readOptions: ({ value }, measure) => readContentsOptions(value, measure),
}

const content = z.looseObject({ parts: z.array(z.looseObject({})).optional() })
const contents = z.union([z.array(content).min(1), content])
/** Only texts are accepted: media have other prices, and no tokens if the vendor states none. */
const embedded = z.looseObject({ parts: z.array(z.strictObject({ text: z.string() })).min(1) })
const embeddings = z.array(z.looseObject({ content: embedded })).min(1)
const usageMetadata = z.looseObject({ promptTokenCount: z.int(), totalTokenCount: z.int() })
const ASKED = [{ role: 'user', parts: [{ text: 'Name three rivers.' }] }]
const QUERY = z.object({
  key: z.string().optional().describe('The API key; a header is preferable.'),
})

function generate(method: string, isStream: boolean): MeteredEndpoint {
  const forms = z.object({ alt: z.enum(['sse', 'json']).optional() })
  return textEndpoint({
    paths: pathsOf(method),
    envelope: 'google',
    operation: 'contents',
    schema: z.looseObject({ contents: contents.describe('The conversation so far.') }),
    dialect,
    metering: {
      endpoint: method,
      fromPath: ({ params, query }) => {
        const alt = query.get('alt') === 'sse' ? 'sse' : 'json'
        return { model: params.model, stream: isStream, alt }
      },
    },
    ...(isStream ? { stream: 'with `alt=sse` an event for each piece, else a JSON list.' } : {}),
    documentation: {
      summary: isStream ? 'Stream an answer in Google’s format' : 'Answer in Google’s format',
      description:
        'For models of channels that speak this format, as `@google/genai` calls it.' +
        ' The key goes into `x-goog-api-key`, `Authorization` or `?key=`.',
      query: isStream ? QUERY.extend(forms.shape) : QUERY,
      answer: z.looseObject({ candidates: z.array(z.looseObject({})), usageMetadata }),
      example: (model) => ({
        path: `/v1beta/models/${model}:${method}`,
        body: { contents: ASKED },
        answer: {
          candidates: [
            {
              content: { role: 'model', parts: [{ text: 'Danube, Niger, Mekong.' }] },
              finishReason: 'STOP',
              index: 0,
            },
          ],
          usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 8, totalTokenCount: 20 },
        },
      }),
    },
  })
}

function embed(method: string, schema: z.ZodType, body: object, answer: object): MeteredEndpoint {
  return textEndpoint({
    paths: pathsOf(method),
    envelope: 'google',
    operation: 'contents-embedding',
    schema,
    dialect,
    isAboutInput: true,
    metering: {
      endpoint: method,
      modelTypes: ['embedding'],
      fromPath: ({ params }) => ({ model: params.model, stream: false }),
      count: async ({ value }) => ({ input_token: await countInThread(listEmbedded(value)) }),
    },
    documentation: {
      summary: `Create embeddings in Google’s format (${method})`,
      description:
        'The input tokens are charged; if the vendor does not state them, the gateway counts ' +
        'them.',
      query: QUERY,
      answer: z.looseObject({}),
      example: (model) => ({ path: `/v1beta/models/${model}:${method}`, body, answer }),
    },
  })
}

const RIVER = { parts: [{ text: 'a river' }] }
const VALUES = { values: [0.0123, -0.0456] }

const countContents: AccountEndpoint = {
  kind: 'account',
  method: 'POST',
  paths: pathsOf('countTokens'),
  envelope: 'google',
  documentation: {
    summary: 'Count the tokens of a request in Google’s format',
    description: 'Counted with a tokenizer; nothing is charged and no upstream is called.',
    tag: 'Text',
    query: QUERY,
    body: z.looseObject({ contents: contents.optional() }),
    answer: z.object({ totalTokens: z.int() }),
    example: (model) => ({
      path: `/v1beta/models/${model}:countTokens`,
      body: { contents: ASKED },
      answer: { totalTokens: 12 },
    }),
    errors: [400, 413, 415],
  },
  async handle(context, _caller, services) {
    const { value } = await readJson(context, services.limits.chatBytesMax, z.looseObject({}))
    const { generateContentRequest: inner = value } = inCamelCase(value, '')
    const request = inCamelCase(inner, 'generateContentRequest')
    if (request.contents === undefined) throw invalidField('contents', 'is required')
    const { mediaTokens, audioTokens } = measureContents(request)
    const texts = await countRequestTokens(request)
    sendJson(context, 200, { totalTokens: texts + mediaTokens + audioTokens })
  },
}

const modelAnswer = z.looseObject({ name: z.string(), displayName: z.string() })
const PAGE_MAX = 1000

function describeModel(model: Model, services: PlainServices): z.infer<typeof modelAnswer> {
  const { limits, details, id } = model
  const served = ENDPOINTS.filter((endpoint) => isServed(endpoint, model, services))
  return {
    name: `models/${id}`,
    version: id,
    displayName: typeof details.display_name === 'string' ? details.display_name : id,
    inputTokenLimit: limits.max_input_tokens,
    outputTokenLimit: limits.max_output_tokens,
    supportedGenerationMethods: served.map(({ paths }) => paths[0].split('::')[1]),
  }
}

/** Returns the models that the caller may call on these paths. */
function listCallable(caller: Caller, services: PlainServices): readonly Model[] {
  return [...viewOf(caller, services).models.values()].filter((model) => {
    if (caller.models !== null && !caller.models.includes(model.id)) return false
    if (!isSoldIn(model, caller.currency)) return false
    return ENDPOINTS.some((endpoint) => isServed(endpoint, model, services))
  })
}

const listContentsModels: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1beta/models'],
  envelope: 'google',
  documentation: {
    summary: 'List the models in Google’s format',
    description: 'Lists the models that this key may call on these paths, in pages.',
    tag: 'Models',
    query: QUERY.extend({
      pageSize: z.int().min(1).max(PAGE_MAX).optional(),
      pageToken: z.string().optional(),
    }),
    answer: z.object({ models: z.array(modelAnswer), nextPageToken: z.string().optional() }),
    example: () => ({ path: '/v1beta/models?pageSize=10' }),
    errors: [400, 403],
  },
  async handle(context, caller, services) {
    const size = Number(context.query.get('pageSize') ?? 50)
    if (!Number.isSafeInteger(size) || size < 1) throw invalidField('pageSize', 'at least 1')
    const all = listCallable(caller, services)
    const after = context.query.get('pageToken') ?? ''
    const start = after === '' ? 0 : all.findIndex(({ id }) => id === after) + 1
    const page = all.slice(start, start + Math.min(size, PAGE_MAX))
    const last = start + page.length < all.length ? page.at(-1) : undefined
    sendJson(context, 200, {
      models: page.map((model) => describeModel(model, services)),
      ...(last ? { nextPageToken: last.id } : {}),
    })
  },
}

const getContentsModel: AccountEndpoint = {
  ...listContentsModels,
  paths: ['/v1beta/models/:model'],
  documentation: {
    summary: 'Get one model in Google’s format',
    description: 'Returns a model that this key may call on these paths.',
    tag: 'Models',
    query: QUERY,
    answer: modelAnswer,
    errors: [403, 404],
  },
  async handle(context, caller, services) {
    const name = context.params.model ?? context.params['*']
    const model = listCallable(caller, services).find(({ id }) => id === name)
    if (!model) throw new GatewayError('not_found', { message: 'no such model on this path' })
    sendJson(context, 200, describeModel(model, services))
  },
}

/** Returns the endpoint with Google's answer for clients whose only key is in Google's header. */
function answerGoogle(endpoint: AccountEndpoint, theirs: AccountEndpoint): AccountEndpoint {
  return {
    ...endpoint,
    handle: (context, ...more) => {
      const isTheirs = sendsGoogleKey(context.request.headers)
      return (isTheirs ? theirs : endpoint).handle(context, ...more)
    },
  }
}

/** The list of models, which clients of all vendors read on the same path. */
export const modelEndpoints: readonly Endpoint[] = [
  answerGoogle(listModels, listContentsModels),
  answerGoogle(getModel, getContentsModel),
]

const ENDPOINTS: readonly MeteredEndpoint[] = [
  generate('generateContent', false),
  generate('streamGenerateContent', true),
  embed(
    'embedContent',
    z.looseObject({ content: embedded, requests: embeddings.optional() }),
    { content: RIVER },
    { embedding: VALUES },
  ),
  embed(
    'batchEmbedContents',
    z.looseObject({ requests: embeddings }),
    { requests: [{ content: RIVER }] },
    { embeddings: [VALUES] },
  ),
]

export const contentsEndpoints: readonly Endpoint[] = [
  ...ENDPOINTS,
  countContents,
  listContentsModels,
  getContentsModel,
]
