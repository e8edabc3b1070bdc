// Rerankers of five shapes, below `/rerank/SHAPE`. The score is the share of the query's words that
// a document has.
import type { Units } from '../kernel/book.ts'
import { isObject, type Json, text } from '../kernel/checks.ts'
import {
  type Exchange,
  type Failure,
  keyedVendor,
  Refused,
  type Reply,
  type Route,
  type Vendor,
  type WholeReply,
  whole,
} from '../kernel/exchange.ts'
import { flag } from '../kernel/scenario-names.ts'
import { bentUsage } from '../kernel/usage.ts'
import { tokensOf } from '../model/tokens.ts'

const KEY = 'sim-rerank-key'

interface Asked {
  query: unknown
  documents: unknown
  top?: unknown
}

interface Ranked {
  index: number
  score: number
}

interface Kind {
  path: string
  read: (json: Json) => Asked
  /** Members that the vendor knows. */
  keys: string
  answer: (ranked: Ranked[], usage: unknown) => unknown
  usage: (units: Units) => unknown
  units: (asked: { query: string; documents: string[] }) => Units
  error: (message: string) => unknown
  isSorted: boolean
}

const tokens = ({ query, documents }: { query: string; documents: string[] }): Units => ({
  input_token: documents.reduce((sum, one) => sum + tokensOf(query) + tokensOf(one), 0),
})

/** A document above 500 tokens, the query included, counts once for each piece. */
const searchUnits = ({ query, documents }: { query: string; documents: string[] }): Units => {
  const room = Math.max(50, 500 - tokensOf(query))
  const pieces = documents.reduce(
    (sum, one) => sum + Math.max(1, Math.ceil(tokensOf(one) / room)),
    0,
  )
  return { search_unit: Math.ceil(pieces / 100) }
}

const scored = (ranked: Ranked[]) =>
  ranked.map(({ index, score }) => ({ index, relevance_score: score }))
const total = ({ input_token }: Units) => ({ total_tokens: input_token })

const KINDS: Record<string, Kind> = {
  cohere: {
    path: '/v2/rerank',
    keys: 'model query documents top_n max_tokens_per_doc priority',
    read: ({ query, documents, top_n: top }) => ({ query, documents, top }),
    answer: (ranked, usage) => ({
      id: 'r-1',
      results: scored(ranked),
      meta: { billed_units: usage },
    }),
    usage: ({ search_unit }) => ({ search_units: search_unit }),
    units: searchUnits,
    error: (message) => ({ message }),
    isSorted: true,
  },
  jina: {
    path: '/v1/rerank',
    keys: 'model query documents top_n return_documents',
    read: ({ query, documents, top_n: top }) => ({ query, documents, top }),
    answer: (ranked, usage) => ({ model: 'm', usage, results: scored(ranked) }),
    usage: total,
    units: tokens,
    error: (detail) => ({ detail }),
    isSorted: true,
  },
  voyage: {
    path: '/v1/rerank',
    keys: 'model query documents top_k return_documents truncation',
    read: ({ query, documents, top_k: top }) => ({ query, documents, top }),
    answer: (ranked, usage) => ({ object: 'list', data: scored(ranked), model: 'm', usage }),
    usage: total,
    units: tokens,
    error: (detail) => ({ detail }),
    isSorted: true,
  },
  dashscope: {
    path: '/api/v1/services/rerank/text-rerank/text-rerank',
    keys: 'model input parameters',
    read: ({ input, parameters }) => {
      const { query, documents } = isObject(input) ? input : {}
      return { query, documents, top: isObject(parameters) ? parameters.top_n : undefined }
    },
    answer: (ranked, usage) => ({ request_id: 'q', output: { results: scored(ranked) }, usage }),
    usage: total,
    units: tokens,
    error: (message) => ({ code: 'InvalidParameter', message, request_id: 'q' }),
    isSorted: true,
  },
  tei: {
    path: '/rerank',
    keys: 'query texts raw_scores return_text truncate truncation_direction',
    read: ({ query, texts }) => ({ query, documents: texts }),
    answer: (ranked) => ranked.map(({ index, score }) => ({ index, score })),
    usage: total,
    units: tokens,
    error: (error) => ({ error, error_type: 'Validation' }),
    isSorted: false,
  },
}

export function rerankers(): Vendor[] {
  return Object.entries(KINDS).map(([name, kind]) => {
    const failure = (_: Exchange, { status, code, message = 'refused' }: Failure): WholeReply => {
      const body = kind.error(message)
      const named = code !== undefined && isObject(body) ? { ...body, code } : body
      return whole(status, named, { reason: `HTTP ${status}` })
    }
    return keyedVendor({
      name: `rerank-${name}`,
      prefix: `/rerank/${name}`,
      requestIdHeader: 'x-request-id',
      scenarios:
        name === 'cohere'
          ? [flag('wrong-index', 'a result names a document that was not sent')]
          : [],
      routes: [routeOf(kind)],
      keys: [KEY],
      failure,
      wrongKey: { message: 'invalid api token' },
      noPath: { message: 'not found' },
    })
  })
}

function routeOf(kind: Kind): Route {
  return {
    method: 'POST',
    path: kind.path,
    operation: 'rerank',
    text: (json) => (isObject(json) ? text(kind.read(json).query) : ''),
    handle: (exchange) => rank(exchange, kind),
  }
}

function rank({ json, scenario }: Exchange, kind: Kind): Reply {
  if (!isObject(json)) throw new Refused({ status: 400, message: 'an object is expected' })
  const known = kind.keys.split(' ')
  const unknown = Object.keys(json).find((name) => !known.includes(name))
  if (unknown) throw new Refused({ status: 422, message: `unknown field ${unknown}` })
  const { query, documents, top } = kind.read(json)
  if (typeof query !== 'string' || !Array.isArray(documents) || documents.length === 0) {
    throw new Refused({ status: 422, message: 'query and documents are required' })
  }
  const asked = { query, documents: documents.map(text) }
  const ranked = asked.documents.map((one, index) => ({ index, score: scoreOf(query, one) }))
  if (kind.isSorted) ranked.sort((left, right) => right.score - left.score)
  if (scenario.has('wrong-index') && ranked[0]) ranked[0].index = documents.length
  const units = kind.units(asked)
  const reported = bentUsage(kind.usage(units) as Json, scenario.text('usage'))
  const body = kind.answer(ranked.slice(0, typeof top === 'number' ? top : undefined), reported)
  const stated = isObject(reported) ? reported.total_tokens : undefined
  const headers: Record<string, string> =
    kind.path === '/rerank' && stated !== undefined ? { 'x-compute-tokens': String(stated) } : {}
  return whole(200, body, { headers, charge: { model: text(json.model), units, reported } })
}

function scoreOf(query: string, document: string): number {
  const words = query.toLowerCase().split(/\s+/)
  const found = words.filter((word) => document.toLowerCase().includes(word))
  return found.length / words.length
}
