/** Documents in the order of relevance to a query, over any reranker (docs/protocols/rerank.md). */
import { randomText } from '../../../base/lib/ids.ts'
import { asString, isAbsent, isObject, type JsonObject, writeJson } from '../../../base/lib/json.ts'
import { joinUrl } from '../../../base/lib/text/base-url.ts'
import { createBodyTap } from '../../dialects/tap.ts'
import { UpstreamFailure } from '../failure.ts'
import { nameIgnored } from '../ignored-header.ts'
import { eachKey } from '../key-header.ts'
import { type CallAdapter, defineUpstream } from '../upstream.ts'
import {
  type Answer,
  readRanking,
  readRankingUsage,
  toReading,
  writeAnswer,
} from './read-answer.ts'
import { readRerankFailure } from './read-failure.ts'
import { type RerankSettings, rerankSettings } from './settings.ts'
import { type Order, SHAPES, type Shape } from './shapes.ts'

const rerank: CallAdapter<RerankSettings> = async (wire, { settings, upstreamModel, request }) => {
  const { value, model } = request
  const shape: Shape = SHAPES[settings.shape]
  const order = readOrder(value, upstreamModel)
  const { documents, topN } = order
  const body = shape.body(order)
  const response = await wire.send({
    method: 'POST',
    url: joinUrl(settings.base_url ?? shape.baseUrl ?? '', shape.path),
    headers: {
      ...(settings.api_key === undefined ? {} : { authorization: `Bearer ${settings.api_key}` }),
      'content-type': 'application/json',
      accept: 'application/json',
    },
    body: Buffer.from(writeJson(body)),
  })
  if (response.status >= 400) throw await readRerankFailure(response, value)
  const { headers } = response
  let answer: Answer | undefined
  const returnsDocuments = value.return_documents === true
  const id = `rerank-${randomText(24)}`
  return {
    status: 200,
    headers: { 'content-type': 'application/json', ...nameIgnored(listIgnored(value, body)) },
    body: response.body,
    relay: createBodyTap(
      (document) => {
        const results = readRanking(document, shape, documents.length)
        const usage = readRankingUsage(document, headers, shape)
        answer = results && { results, usage }
        return toReading(document, answer)
      },
      () => answer && writeAnswer(answer, { id, model, documents, topN, returnsDocuments }),
    ),
    stream: false,
    refusal: ({ error }) =>
      error && new UpstreamFailure('failed', { status: 200, message: error.message }),
  }
}

/** Members that are always respected, here or at the upstream. */
const FOLLOWED: ReadonlySet<string> = new Set(
  'model query documents top_n return_documents'.split(' '),
)

/** Lists the members of the request that are not sent to the reranker, such as `rank_fields`. */
function listIgnored(value: JsonObject, body: JsonObject): string[] {
  const names = Object.keys(value).filter((name) => !isAbsent(value[name]))
  return names.filter((name) => !FOLLOWED.has(name) && !Object.hasOwn(body, name))
}

/** The endpoint's schema has been checked. */
function readOrder(value: Readonly<Record<string, unknown>>, model: string): Order {
  const { query, documents, top_n: topN, max_tokens_per_doc: tokensPerDocument } = value
  const list = Array.isArray(documents) ? documents : []
  return {
    model,
    query: asString(query) ?? '',
    documents: list.map((one) => asString(isObject(one) ? one.text : one) ?? ''),
    topN: typeof topN === 'number' ? topN : undefined,
    tokensPerDocument: typeof tokensPerDocument === 'number' ? tokensPerDocument : undefined,
  }
}

export const reranker = defineUpstream({
  name: 'rerank',
  settings: rerankSettings,
  secrets: ['api_key', 'api_keys'],
  eachKey,
  concurrency: ({ max_concurrent_calls: calls }) => calls,
  address: ({ base_url: url, shape }) => url ?? (SHAPES[shape] as Shape).baseUrl ?? '',
  calls: { rerank },
})
