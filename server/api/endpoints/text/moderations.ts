/** POST /v1/moderations: OpenAI's moderation dialect, free or billed by call or input tokens. */
import { z } from 'zod'
import { isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { Body, Estimate, QuotedRequest } from '../../../work/pipeline/metering.ts'
import { addMediaUrl, createMeasure, type Measure } from './billing/measure.ts'
import { PLAIN_MODERATIONS } from './billing/plain-members.ts'
import { readCommon } from './billing/priced-options.ts'
import { countInputCeiling, quoteText, type TextDialect } from './billing/text-billing.ts'
import { textEndpoint } from './text-endpoint.ts'

const part = z.looseObject({ type: z.string().min(1, { abort: true }) })

const moderationRequest = z.looseObject({
  model: z
    .string()
    .min(1)
    .nullish()
    .describe('A moderation model from GET /v1/models; may be left out if there is only one.'),
  input: z
    .union([z.string(), z.array(z.string()).min(1), z.array(part).min(1)], {
      error: 'a text, a list of texts, or a list of parts with a type',
    })
    .describe('A text, several texts, or parts of the types `text` and `image_url`.'),
})

const moderationAnswer = z.looseObject({
  results: z
    .array(z.looseObject({ categories: z.looseObject({}), category_scores: z.looseObject({}) }))
    .describe('One for each text, or a single one for all parts together.'),
})

/** Every part that is not text counts as an image. */
function measureParts({ input }: JsonObject): Measure {
  const measure = createMeasure()
  for (const one of Array.isArray(input) ? input : []) {
    if (!isObject(one) || one.type === 'text') continue
    addMediaUrl(measure, 'image', member(one.image_url, 'url') ?? one.image_url)
  }
  return measure
}

function estimateInput(value: Body, bodyBytes: number): number {
  return countInputCeiling(bodyBytes, measureParts(value))
}

const dialect: TextDialect = {
  limits: [],
  plain: PLAIN_MODERATIONS,
  measure: measureParts,
  readOptions: ({ value }, measure) => readCommon(value, measure),
}

/** Quotes the input; there is no output. */
function quote(request: QuotedRequest): Estimate {
  const { value, body } = request
  const quantities = { input_token: estimateInput(value, body.length) }
  const { most: _, ...estimate } = quoteText(request, dialect)
  return { ...estimate, quantities }
}

export const moderations = textEndpoint({
  paths: ['/v1/moderations'],
  operation: 'moderation',
  schema: moderationRequest,
  dialect,
  isAboutInput: true,
  metering: {
    modelTypes: ['moderation'],
    defaultsToOnlyModel: true,
    quote,
  },
  documentation: {
    summary: 'Classify content as harmful',
    description:
      'Returns the upstream’s answer. Free, or billed by call or by input tokens, depending on ' +
      'the model’s prices; input tokens are estimated if the upstream does not state them.',
    answer: moderationAnswer,
    example: (model) => ({
      body: { model, input: 'a quiet river' },
      answer: {
        id: 'modr-0c1f7a',
        model,
        results: [
          { flagged: false, categories: { violence: false }, category_scores: { violence: 0.01 } },
        ],
      },
    }),
  },
})
