/** POST /v1/search: web search and global search, billed by successful call. */

import { z } from 'zod'
import { printValue } from '../../base/lib/json.ts'
import type { RequestParts } from '../../work/pipeline/metering.ts'
import type { Ceiling } from '../../work/pipeline/price/ceiling.ts'
import { listSpellings, refuseOtherCase } from '../../work/pipeline/request/spellings.ts'
import type { MeteredEndpoint } from './endpoint.ts'

const SEARCH_BODY_BYTES_MAX = 256 * 1024
const MODEL_OF_TYPE: Readonly<Record<string, string>> = {
  web: 'vendor-web-search',
  global: 'vendor-global-search',
}

/**
 * Returns true if the model is the product of another type; an operator may sell a product under
 * any id.
 */
function isOfOtherType(type: string, model: string): boolean {
  return MODEL_OF_TYPE[type] !== model && Object.values(MODEL_OF_TYPE).includes(model)
}

/** A search is one call, regardless of other quantities that the vendor states. */
const CEILING: Ceiling = { inputTokens: 0, outputTokens: 0, others: 1 }

const searchRequest = z
  .looseObject({
    Type: z
      .enum(['web', 'global'], { error: "'web' or 'global'" })
      .optional()
      .describe('The product line.'),
    model: z.string().min(1).optional().describe('Alternative to Type.'),
    Query: z.string().min(1).max(100).describe('The search query.'),
    Count: z.int().min(1).max(50).optional().describe('Number of results; 10 by default.'),
    SearchType: z
      .literal('web', { error: "only 'web' is supported" })
      .optional()
      .describe("Only 'web'; image search is not supported."),
  })
  .refine((value) => Boolean(value.Type || value.model), {
    path: ['Type'],
    error: "required: 'web' or 'global'",
  })
  .refine((value) => !value.Type || !value.model || !isOfOtherType(value.Type, value.model), {
    path: ['Type'],
    error: 'Type and model name different products: send one of them',
  })

/** Members that choose the product and its price. */
const SPELLINGS = listSpellings(['Type', 'model', 'Query', 'Count', 'SearchType'])

const searchAnswer = z
  .looseObject({ ResponseMetadata: z.looseObject({}), Result: z.looseObject({}) })
  .describe('The upstream’s result, unchanged.')

function readModel({ value }: RequestParts): string | undefined {
  const { Type, model } = value
  return typeof model === 'string' ? model : MODEL_OF_TYPE[printValue(Type)]
}

export const search: MeteredEndpoint = {
  kind: 'metered',
  method: 'POST',
  paths: ['/v1/search'],
  envelope: 'flat',
  metering: {
    endpoint: 'search',
    operation: 'search',
    modelTypes: ['search'],
    bodyBytesMax: SEARCH_BODY_BYTES_MAX,
    schema: searchRequest,
    check: ({ value }) => refuseOtherCase(value, SPELLINGS),
    model: readModel,
    streams: () => false,
    inputTokens: () => 0,
    quote: () => ({ quantities: { call: 1 }, ceiling: CEILING }),
    fallback: () => ({ call: 1 }),
    billsBroken: false,
    passesRefusals: false,
  },
  documentation: {
    summary: 'Search the web',
    description: 'Charged on success, not charged on failure.',
    tag: 'Search',
    answer: searchAnswer,
    example: () => ({ body: { Type: 'web', Query: 'the longest rivers', Count: 5 } }),
  },
}
