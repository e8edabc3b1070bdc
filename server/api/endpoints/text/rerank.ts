/** POST /v1/rerank and /v2/rerank: documents by relevance, billed by search unit, token or call. */
import { z } from 'zod'
import type { Quantities } from '../../../base/lib/units.ts'
import type { Body, Estimate } from '../../../work/pipeline/metering.ts'
import { listSpellings, refuseOtherCase } from '../../../work/pipeline/request/spellings.ts'
import type { MeteredEndpoint } from '../endpoint.ts'

const BODY_BYTES_MAX = 64 * 1024 * 1024
const DOCUMENTS_MAX = 10_000
const BYTES_PER_TOKEN = 4
/** The most tokens per byte: a tokenizer may normalise text first. */
const TOKENS_PER_BYTE_MAX = 11
/** Tokens for the separators between the query and a document. */
const MARKS_PER_PAIR = 64
/** A search unit is a query with this many documents; a longer document counts as several. */
const DOCUMENTS_PER_UNIT = 100
const TOKENS_PER_PIECE = 500
const TOKENS_PER_PIECE_MIN = 50

const text = z.looseObject({ text: z.string() })

const rerankRequest = z.looseObject({
  model: z.string().min(1).describe('A rerank model from GET /v1/models.'),
  query: z.string().min(1).describe('What the documents are compared with.'),
  documents: z
    .array(z.union([z.string(), text], { error: 'a text, or an object with a text' }))
    .min(1)
    .max(DOCUMENTS_MAX)
    .describe('The documents: texts, or objects with a `text`.'),
  top_n: z.int().positive().nullish().describe('Number of results; all by default.'),
  return_documents: z.boolean().nullish().describe('True: each result includes its document.'),
  max_tokens_per_doc: z
    .int()
    .positive()
    .nullish()
    .describe('Longer documents are truncated, if the upstream supports it.'),
})

const rerankAnswer = z.looseObject({
  id: z.string(),
  model: z.string(),
  results: z
    .array(
      z.looseObject({
        index: z.int().describe('The document’s position in the request.'),
        relevance_score: z.number(),
        document: z.looseObject({ text: z.string() }).optional(),
      }),
    )
    .describe('Most relevant first. Scores of different models are not comparable.'),
  usage: z.looseObject({ total_tokens: z.int() }).optional(),
  meta: z.looseObject({ billed_units: z.looseObject({}) }),
})

const SPELLINGS = listSpellings(['model', 'query', 'documents', 'top_n', 'max_tokens_per_doc'])

/** Returns the quantities of a request, each document being read with the query. */
function count(value: Body, tokensOf: (bytes: number) => number): Required<Counted> {
  const { query, documents } = value
  const queryTokens = tokensOf(bytesOf(query))
  const room = Math.max(TOKENS_PER_PIECE - queryTokens, TOKENS_PER_PIECE_MIN)
  let tokens = 0
  let pieces = 0
  for (const one of Array.isArray(documents) ? documents : []) {
    const documentTokens = tokensOf(bytesOf(one))
    tokens += queryTokens + documentTokens
    pieces += Math.max(1, Math.ceil(documentTokens / room))
  }
  return { input_token: tokens, search_unit: Math.ceil(pieces / DOCUMENTS_PER_UNIT) }
}

type Counted = Pick<Quantities, 'input_token' | 'search_unit'>

function bytesOf(one: unknown): number {
  if (typeof one === 'string') return Buffer.byteLength(one)
  return typeof one === 'object' && one !== null && 'text' in one ? bytesOf(one.text) : 0
}

const estimate = (value: Body) => count(value, (bytes) => Math.ceil(bytes / BYTES_PER_TOKEN))

function quote({ value }: { readonly value: Body }): Estimate {
  const most = count(value, (bytes) => bytes * TOKENS_PER_BYTE_MAX + MARKS_PER_PAIR)
  return {
    quantities: estimate(value),
    ceiling: {
      inputTokens: most.input_token,
      outputTokens: 0,
      units: { search_unit: most.search_unit },
      others: 1,
    },
  }
}

export const rerank: MeteredEndpoint = {
  kind: 'metered',
  method: 'POST',
  paths: ['/v1/rerank', '/v2/rerank'],
  envelope: 'nested',
  metering: {
    endpoint: 'rerank',
    operation: 'rerank',
    modelTypes: ['rerank'],
    bodyBytesMax: BODY_BYTES_MAX,
    schema: rerankRequest,
    check: ({ value }) => refuseOtherCase(value, SPELLINGS),
    model: ({ value }) => (typeof value.model === 'string' ? value.model : undefined),
    streams: () => false,
    inputTokens: (value) => estimate(value).input_token,
    quote,
    needs: ['input_token', 'search_unit'],
    fallback: ({ value }) => estimate(value),
    billsBroken: false,
    passesRefusals: false,
  },
  documentation: {
    summary: 'Rank documents by relevance',
    description:
      'Returns the documents in order of relevance to the query, in the format of the Cohere ' +
      'and Jina APIs. Of a document that is an object, only `text` is used; ' +
      '`x-tributary-ignored` names what was not sent upstream. Charged by search unit (a query ' +
      'with 100 documents), by token or by call, depending on the model’s prices.',
    tag: 'Search',
    answer: rerankAnswer,
    example: (model) => ({
      body: { model, query: 'long rivers', documents: ['the Nile', 'a stream'], top_n: 1 },
      answer: {
        id: 'rerank-8b1c',
        model,
        results: [{ index: 0, relevance_score: 0.93 }],
        meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
      },
    }),
  },
}
