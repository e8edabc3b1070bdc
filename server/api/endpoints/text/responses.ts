/** POST /v1/responses: the Responses dialect. */

import { z } from 'zod'
import { InvalidRequest } from '../../../wire/dialects/invalid-request.ts'
import { RESPONSES_USAGE } from '../../../wire/dialects/usage/usage-places.ts'
import type { RequestParts } from '../../../work/pipeline/metering.ts'
import { callbackUrl } from '../callback-url.ts'
import type { MeteredEndpoint } from '../endpoint.ts'
import { onEveryPrefix } from '../native-prefixes.ts'
import { measureResponses } from './billing/measure-responses.ts'
import { PLAIN_RESPONSES } from './billing/plain-members.ts'
import { readResponsesOptions } from './billing/responses-options.ts'
import type { TextDialect } from './billing/text-billing.ts'
import { findReferences } from './references/find-references.ts'
import { backgroundOf } from './response-submission.ts'
import { listedModels, textEndpoint } from './text-endpoint.ts'

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

const endpoint = textEndpoint({
  paths: onEveryPrefix('/responses'),
  operation: 'responses',
  schema: responsesRequest,
  dialect,
  metering: {
    takesModels: true,
    usagePlace: RESPONSES_USAGE,
    check,
    buildsOn: ({ previous_response_id: id }) => (typeof id === 'string' ? id : undefined),
    names: { operation: 'responses', find: (value) => findReferences(value, { hasItems: true }) },
    keepsAnswer: ({ store }) => store !== false,
    passesRefusals: true,
  },
  stream: 'typed events; the last one, `response.completed`, has the usage.',
  documentation: {
    summary: 'Create a response',
    description:
      'Forwarded to the upstream, or translated if it speaks another dialect. If the upstream ' +
      'lacks this API, its error is passed on and nothing is charged. With `background: true` ' +
      'the response is a task: the hold lasts until it ends, GET and cancel work on it, and ' +
      '`callback_url` receives one POST when it ends.',
    answer: responsesAnswer,
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
  },
})

export const responses: MeteredEndpoint = {
  ...endpoint,
  background: backgroundOf(endpoint.metering),
}
