/** Rerankers as data: where each one's members are (docs/protocols/rerank.md). */
import type { IncomingHttpHeaders } from 'node:http'
import { type JsonObject, member } from '../../../base/lib/json.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import { readFirstCount } from '../../dialects/usage/read-count.ts'

export interface Order {
  readonly model: string
  readonly query: string
  readonly documents: readonly string[]
  readonly topN: number | undefined
  readonly tokensPerDocument: number | undefined
}

export interface Shape {
  /** Absent for servers of one's own. */
  readonly baseUrl?: string
  readonly path: string
  readonly body: (order: Order) => JsonObject
  /** Returns the list of results in an answer. */
  readonly results: (document: unknown) => unknown
  readonly score: string
  /** Returns the stated quantities, not yet validated. */
  readonly usage: (document: unknown, headers: IncomingHttpHeaders) => Stated
}

type Stated = Readonly<Partial<Record<keyof Quantities, unknown>>>

/** SiliconFlow and LiteLLM state tokens in `meta`, where Cohere states its units. */
function totalTokens(document: unknown): Stated {
  const stated = member(member(document, 'usage'), 'total_tokens')
  const meta = member(document, 'meta')
  const billed = member(meta, 'billed_units')
  const count = readFirstCount(
    stated,
    member(billed, 'input_tokens'),
    member(billed, 'total_tokens'),
    member(member(meta, 'tokens'), 'input_tokens'),
  )
  return { input_token: count > 0 ? count : stated }
}

const DIGITS = /^\d{1,16}$/

/** An empty header states nothing: it is no count of zero, which would be a free call. */
const readDigits = (header: string | string[] | undefined): number | undefined =>
  DIGITS.test(String(header)) ? Number(header) : undefined

/** Leaves out what is undefined. */
const only = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

export const SHAPES = {
  cohere: {
    baseUrl: 'https://api.cohere.com',
    path: '/v2/rerank',
    body: ({ model, query, documents, topN, tokensPerDocument }) =>
      only({ model, query, documents, top_n: topN, max_tokens_per_doc: tokensPerDocument }),
    results: (document) => member(document, 'results'),
    score: 'relevance_score',
    usage: (document) => ({
      search_unit: member(member(member(document, 'meta'), 'billed_units'), 'search_units'),
      ...totalTokens(document),
    }),
  },
  jina: {
    baseUrl: 'https://api.jina.ai',
    path: '/v1/rerank',
    body: ({ model, query, documents, topN }) =>
      only({ model, query, documents, top_n: topN, return_documents: false }),
    results: (document) => member(document, 'results'),
    score: 'relevance_score',
    usage: totalTokens,
  },
  voyage: {
    baseUrl: 'https://api.voyageai.com',
    path: '/v1/rerank',
    body: ({ model, query, documents, topN }) => only({ model, query, documents, top_k: topN }),
    results: (document) => member(document, 'data'),
    score: 'relevance_score',
    usage: totalTokens,
  },
  dashscope: {
    baseUrl: 'https://dashscope.aliyuncs.com',
    path: '/api/v1/services/rerank/text-rerank/text-rerank',
    body: ({ model, query, documents, topN }) => ({
      model,
      input: { query, documents },
      parameters: only({ return_documents: false, top_n: topN }),
    }),
    results: (document) => member(member(document, 'output'), 'results'),
    score: 'relevance_score',
    usage: totalTokens,
  },
  tei: {
    path: '/rerank',
    // The server has a single model, and would refuse all texts if one is too long.
    body: ({ query, documents }) => ({ query, texts: documents, truncate: true }),
    results: (document) => document,
    score: 'score',
    usage: (_, headers) => ({ input_token: readDigits(headers['x-compute-tokens']) }),
  },
} as const satisfies Readonly<Record<string, Shape>>
