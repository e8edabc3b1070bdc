/** POST /v1/responses: the Responses dialect. */
import { z } from 'zod'
import { InvalidRequest } from '../../dialects/invalid-request.ts'
import type { Metering, RequestParts } from '../../pipeline/metering.ts'
import { callbackUrl } from '../callback-url.ts'
import type { MeteredEndpoint } from '../endpoint.ts'
import { onEveryPrefix } from '../native-prefixes.ts'
import { measureResponses } from './billing/measure-responses.ts'
import { PLAIN_RESPONSES } from './billing/plain-members.ts'
import { readResponsesOptions } from './billing/responses-options.ts'
import { takeOutTools } from './billing/take-out-tools.ts'
import {
  countInputCeiling,
  estimateText,
  quoteText,
  requestsStream,
  TEXT_BODY_BYTES_MAX,
  TEXT_NEEDS,
  type TextDialect,
} from './billing/text-billing.ts'
import { listedModels } from './listed-models.ts'
import { findReferences } from './references/find-references.ts'
import { backgroundOf } from './response-submission.ts'

const dialect: TextDialect = {
  limits: ['max_output_tokens'],
  plain: PLAIN_RESPONSES,
  measure: measureResponses,
  readOptions: ({ value }, measure) => readResponsesOptions(value, measure),
}

const responsesRequest = z.looseObject({
  model: z.string().min(1).describe('A chat model from GET /v1/models.'),
  input: z
    .union([z.string(), z.array(z.looseObject({}))], { error: 'a string or an array of items' })
    .optional()
    .describe('A string, or input items.'),
  stream: z.boolean().nullish().describe('true: typed server-sent events.'),
  models: listedModels,
  max_output_tokens: z.int().positive().nullish(),
  previous_response_id: z.string().nullish().describe('The id of a stored response of yours.'),
  tools: z.array(z.looseObject({})).nullish().describe('Functions and the vendor’s tools.'),
  background: z
    .boolean()
    .nullish()
    .describe('true: returns at once; the response runs, and is charged, as a task.'),
  callback_url: callbackUrl.nullable(),
})

const responsesAnswer = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  status: z.string(),
  output: z.array(z.looseObject({ type: z.string() })),
  usage: z
    .looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() })
    .nullable()
    .describe('null until a background response has ended.'),
})

/** The members of which a request has at least one: the vendor has nothing to answer otherwise. */
const INPUTS = ['input', 'prompt', 'conversation', 'previous_response_id'] as const

function check({ value }: RequestParts): void {
  const isEmpty = INPUTS.every((name) => value[name] === undefined || value[name] === null)
  // A session over a socket may be warmed up before there is anything to answer.
  if (isEmpty && value.generate !== false) {
    throw new InvalidRequest('input', `required, or one of ${INPUTS.slice(1).join(', ')}`)
  }
  if (typeof value.callback_url !== 'string' || value.background === true) return
  throw new InvalidRequest('callback_url', 'requires background: true')
}

const metering: Metering = {
  endpoint: 'responses',
  operation: 'responses',
  modelTypes: ['chat'],
  bodyBytesMax: TEXT_BODY_BYTES_MAX,
  takesPictures: true,
  takesModels: true,
  schema: responsesRequest,
  check,
  model: ({ value }) => value.model as string,
  buildsOn: ({ previous_response_id: id }) => (typeof id === 'string' ? id : undefined),
  names: { operation: 'responses', find: (value) => findReferences(value, { hasItems: true }) },
  keepsAnswer: ({ store }) => store !== false,
  streams: requestsStream,
  inputTokens: (value, bodyBytes) => countInputCeiling(bodyBytes, measureResponses(value)),
  quote: (request) => quoteText(request, dialect),
  needs: TEXT_NEEDS,
  takeOut: takeOutTools,
  fallback: (request, report) => estimateText(request.estimateInputTokens(), report),
  billsBroken: true,
  passesRefusals: true,
}

export const responses: MeteredEndpoint = {
  kind: 'metered',
  method: 'POST',
  paths: onEveryPrefix('/responses'),
  envelope: 'nested',
  metering,
  background: backgroundOf(metering),
  documentation: {
    summary: 'Create a response',
    description:
      'Forwarded to the upstream, or translated if it speaks another dialect. If it lacks this ' +
      'API, its error is passed on and nothing is charged. With `background: true` the ' +
      'response is a task: the hold lasts until it ends, GET and cancel work on it, and ' +
      '`callback_url` gets one POST at its end.',
    tag: 'Text',
    answer: responsesAnswer,
    stream: {
      type: 'text/event-stream',
      description: 'typed events; the last one, `response.completed`, has the usage.',
    },
    example: (model) => ({
      body: { model, input: 'Name a river.', max_output_tokens: 256 },
      answer: {
        id: 'resp_68f1',
        object: 'response',
        status: 'completed',
        model,
        output: [
          {
            type: 'message',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'The Danube.' }],
          },
        ],
        usage: { input_tokens: 11, output_tokens: 5, total_tokens: 16 },
      },
    }),
    errors: [400, 402, 403, 404, 409, 413, 415, 422, 429, 502, 503],
  },
}
