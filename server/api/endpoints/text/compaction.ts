/** POST /v1/responses/compact: a shorter input that replaces a conversation. */
import { z } from 'zod'
import { measureResponses } from './billing/measure-responses.ts'
import { PLAIN_RESPONSES } from './billing/plain-members.ts'
import { readResponsesOptions } from './billing/responses-options.ts'
import type { TextDialect } from './billing/text-billing.ts'
import { findReferences } from './references/find-references.ts'
import { textEndpoint } from './text-endpoint.ts'

const dialect: TextDialect = {
  limits: [],
  plain: PLAIN_RESPONSES,
  measure: measureResponses,
  readOptions: ({ value }, measure) => readResponsesOptions(value, measure),
}

const compactionRequest = z.looseObject({
  model: z.string().min(1).describe('A model whose vendor compacts, from GET /v1/models.'),
  input: z
    .union([z.string(), z.array(z.looseObject({}))], { error: 'a string or an array of items' })
    .nullish(),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish().describe('The id of a stored response of yours.'),
  stream: z.literal(false, { error: 'a compaction is not streamed' }).nullish(),
  background: z.literal(false, { error: 'a compaction does not run in the background' }).nullish(),
})

const compactionAnswer = z.looseObject({
  id: z.string(),
  object: z.string(),
  output: z.array(z.looseObject({ type: z.string() })),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }),
})

export const compactResponses = textEndpoint({
  paths: ['/v1/responses/compact'],
  operation: 'compaction',
  schema: compactionRequest,
  dialect,
  metering: {
    buildsOn: ({ previous_response_id: id }) => (typeof id === 'string' ? id : undefined),
    names: { operation: 'compaction', find: (value) => findReferences(value, { hasItems: true }) },
  },
  documentation: {
    summary: 'Compact a conversation',
    description:
      'Passed to the vendor, and charged by the tokens used. The output replaces the input of ' +
      'the next request to the same model. Only available for models whose vendor has the ' +
      'Responses API.',
    answer: compactionAnswer,
    example: (model) => ({
      body: { model, input: 'Name a river.' },
      answer: {
        id: 'resp_68f2',
        object: 'response.compaction',
        output: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAAB…' }],
        usage: { input_tokens: 11, output_tokens: 5, total_tokens: 16 },
      },
    }),
  },
})
