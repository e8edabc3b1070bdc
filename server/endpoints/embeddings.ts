/** POST /v1/embeddings: OpenAI's embedding dialect, billed by input tokens. */
import { z } from 'zod'
import type { MeteredEndpoint } from './endpoint.ts'
import { estimateInputTokens, TEXT_BODY_BYTES_MAX } from './text.ts'

const tokens = z.array(z.int().nonnegative()).min(1)

const embeddingRequest = z.looseObject({
  model: z.string().min(1).describe('An embedding model of GET /v1/models.'),
  input: z
    .union([z.string().min(1), z.array(z.string()).min(1), tokens, z.array(tokens).min(1)], {
      error: 'a text, a list of texts, a list of tokens, or a list of such lists',
    })
    .describe('Text or tokens, one or many.'),
  dimensions: z.int().positive().nullish().describe('Length of the vectors, if the model can.'),
  encoding_format: z.enum(['float', 'base64']).nullish(),
})

const embeddingAnswer = z.looseObject({
  object: z.literal('list'),
  model: z.string(),
  data: z.array(z.looseObject({ object: z.literal('embedding'), index: z.int() })),
  usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int() }),
})

/** A list of token numbers counts one token each; text is estimated. */
function countInput(input: unknown): number {
  if (!Array.isArray(input)) return estimateInputTokens(input)
  if (typeof input[0] === 'number') return input.length
  return input.reduce<number>((sum, item) => sum + countInput(item), 0)
}

export const embeddings: MeteredEndpoint = {
  kind: 'metered',
  method: 'POST',
  paths: ['/v1/embeddings'],
  envelope: 'nested',
  metering: {
    endpoint: 'embeddings',
    operation: 'embedding',
    modelTypes: ['embedding'],
    bodyBytesMax: TEXT_BODY_BYTES_MAX,
    takesPictures: true,
    schema: embeddingRequest,
    model: ({ value }) => value.model as string,
    streams: () => false,
    inputTokens: (value) => countInput(value.input),
    quote: ({ inputTokens }) => ({ input_token: inputTokens }),
    fallback: (request) => ({ input_token: request.inputTokensEstimate }),
    billsBroken: false,
    passesRefusals: false,
  },
  documentation: {
    summary: 'Create embeddings',
    tag: 'Text',
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
    errors: [400, 402, 403, 404, 409, 413, 415, 422, 429, 502, 503],
  },
}
