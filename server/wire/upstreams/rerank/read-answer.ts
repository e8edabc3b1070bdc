/** Reads a reranker's answer, and writes it in the one form that callers get. */
import type { IncomingHttpHeaders } from 'node:http'
import { isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { Quantities, Unit } from '../../../base/lib/units.ts'
import { UPSTREAM_ERROR } from '../../dialects/reported-error.ts'
import type { BodyReading } from '../../dialects/tap.ts'
import { readCount } from '../../dialects/usage/read-count.ts'
import { readStatedCost } from '../../dialects/usage/stated-cost.ts'
import type { Shape } from './shapes.ts'

interface Result {
  readonly index: number
  readonly score: number
}

export interface Answer {
  readonly results: readonly Result[]
  readonly usage: Quantities
}

/** Returns undefined for an answer that ranks anything but the documents, each at most once. */
export function readRanking(
  document: unknown,
  { results: listOf, score: name }: Pick<Shape, 'results' | 'score'>,
  count: number,
): readonly Result[] | undefined {
  const list = listOf(document)
  if (!Array.isArray(list)) return undefined
  const seen = new Set<unknown>()
  const results: Result[] = []
  for (const one of list) {
    if (!isObject(one)) return undefined
    const { index, [name]: score } = one
    const isIndex = typeof index === 'number' && Number.isInteger(index)
    if (!isIndex || index < 0 || index >= count || seen.has(index)) return undefined
    if (typeof score !== 'number' || !Number.isFinite(score)) return undefined
    seen.add(index)
    results.push({ index, score })
  }
  // Not every server sorts them.
  return results.sort((left, right) => right.score - left.score)
}

export function readRankingUsage(
  document: unknown,
  headers: IncomingHttpHeaders,
  { usage }: Pick<Shape, 'usage'>,
): Quantities {
  const counts = Object.entries(usage(document, headers)).flatMap(([unit, stated]) => {
    const count = readCount(stated)
    return count === undefined ? [] : [[unit as Unit, count] as const]
  })
  return Object.fromEntries(counts)
}

/** Reads a ranking and its bill; a cost stands in the usage of routers between vendors. */
export function toReading(document: unknown, answer: Answer | undefined): BodyReading {
  if (!answer) return { outputBytes: 0, error: UPSTREAM_ERROR }
  const { results, usage } = answer
  const statedCost = readStatedCost(member(document, 'usage'))
  return { outputBytes: results.length, usage, ...(statedCost ? { statedCost } : {}) }
}

interface AnswerParts {
  readonly id: string
  readonly model: string
  readonly documents: readonly string[]
  readonly topN: number | undefined
  readonly returnsDocuments: boolean
}

export function writeAnswer({ results, usage }: Answer, written: AnswerParts): JsonObject {
  const { id, model, documents, topN, returnsDocuments } = written
  const { input_token: tokens, search_unit: units } = usage
  return {
    id,
    model,
    results: results.slice(0, topN).map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(returnsDocuments ? { document: { text: documents[index] } } : {}),
    })),
    ...(tokens === undefined ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    meta: {
      api_version: { version: '2' },
      billed_units: {
        ...(units === undefined ? {} : { search_units: units }),
        ...(tokens === undefined ? {} : { input_tokens: tokens }),
      },
    },
  }
}
