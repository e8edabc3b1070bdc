/** POST /v1/embeddings: OpenAI's embedding dialect, billed by input tokens. */
import { z } from 'zod'
import type { Body, Estimate, QuotedRequest } from '../../../work/pipeline/metering.ts'
import { onEveryPrefix } from '../native-prefixes.ts'
import { createMeasure } from './billing/measure.ts'
import { PLAIN_EMBEDDINGS } from './billing/plain-members.ts'
import { readCommon } from './billing/priced-options.ts'
import { quoteText, type TextDialect } from './billing/text-billing.ts'
import { textEndpoint } from './text-endpoint.ts'

const BYTES_PER_TOKEN = 4
/**
 * Tokenizers of embedding models may normalise text first (NFKC), which can multiply its bytes by
 * eleven: the ligature U+FDFA grows from 3 bytes to 33.
 */
const TOKENS_PER_BYTE_MAX = 11

/** Ends the reading of a list at its first wrong entry. */
const atOnce = { abort: true }
const tokens = z.array(z.int(atOnce).nonnegative(atOnce)).min(1, atOnce)

const embeddingRequest = z.looseObject({
  model: z.string().min(1).describe('An embedding model from GET /v1/models.'),
  input: z
    .union([z.string().min(1), z.array(z.string()).min(1), tokens, z.array(tokens).min(1)], {
      error: 'a text, a list of texts, a list of tokens, or a list of such lists',
    })
    .describe('Text or tokens, single or in an array.'),
  dimensions: z
    .int()
    .positive()
    .nullish()
    .describe('Length of the vectors, if the model supports it.'),
  encoding_format: z.enum(['float', 'base64']).nullish(),
})

const embeddingAnswer = z.looseObject({
  object: z.literal('list'),
  model: z.string(),
  data: z.array(z.looseObject({ object: z.literal('embedding'), index: z.int() })),
  usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int() }),
})

/** Counts the tokens of an input that lists them as numbers. */
function countTokens(input: unknown): number {
  if (typeof input === 'number') return 1
  if (!Array.isArray(input)) return 0
  return input.reduce<number>((sum, item) => sum + countTokens(item), 0)
}

function estimateInput(value: Body, bodyBytes: number): number {
  return Math.max(countTokens(value.input), Math.ceil(bodyBytes / BYTES_PER_TOKEN))
}

const dialect: TextDialect = {
  limits: [],
  plain: PLAIN_EMBEDDINGS,
  measure: createMeasure,
  readOptions: ({ value }, measure) => readCommon(value, measure),
}

/** Quotes the input, be it text or tokens; there is no output. */
function quote(request: QuotedRequest): Estimate {
  const { ceiling, most: _, ...estimate } = quoteText(request, dialect)
  const { value, body } = request
  const inputTokens = ceiling.inputTokens + body.length * (TOKENS_PER_BYTE_MAX - 1)
  return {
    ...estimate,
    quantities: { input_token: estimateInput(value, body.length) },
    ceiling: { ...ceiling, inputTokens },
  }
}

export const embeddings = textEndpoint({
  paths: onEveryPrefix('/embeddings'),
  operation: 'embedding',
  schema: embeddingRequest,
  dialect,
  isAboutInput: true,
  metering: {
    modelTypes: ['embedding'],
    inputTokens: estimateInput,
    quote,
  },
  documentation: {
    summary: 'Create embeddings',
    description:
      'Returns one vector for each input, in the same order. The input tokens are charged.',
    answer: embeddingAnswer,
    example: (model) => ({
      body: { model, input: ['a river', 'a stream'] },
      answer: {
        object: 'list',
        model,
        data: [
          { object: 'embedding', index: 0, embedding: [0.0123, -0.0456] },
          { object: 'embedding', index: 1, embedding: [0.0117, -0.0462] },
        ],
        usage: { prompt_tokens: 5, total_tokens: 5 },
      },
    }),
  },
})
