// POST /search_api/global_search: counts its results with `DocCount`, not `Count`.
import { isInteger, isObject, type Json, text } from '../kernel/checks.ts'
import { type Exchange, type Reply, type Route, whole } from '../kernel/exchange.ts'
import { failWhereAsked, metadataOf, refused } from './errors.ts'
import { checkQuery } from './web-search.ts'

const KEYS = new Set([
  'Query',
  'SearchType',
  'DocCount',
  'MaxSnippetLength',
  'MaxImageCountPerDoc',
  'Filter',
])

export const globalSearchRoute: Route = {
  method: 'POST',
  path: '/search_api/global_search',
  operation: 'global_search',
  text: (json) => (isObject(json) ? text(json.Query) : ''),
  handle: search,
}

const LIMITS: [string, number, number][] = [
  ['DocCount', 1, 20],
  ['MaxSnippetLength', 1, 3000],
  ['MaxImageCountPerDoc', 0, 10],
]

function check(json: unknown): asserts json is Json {
  checkQuery(json, KEYS)
  for (const [key, low, high] of LIMITS) {
    if (json[key] === undefined || isInteger(json[key], low, high)) continue
    throw refused(`${key} must be between ${low} and ${high}`)
  }
  if (json.SearchType !== undefined && json.SearchType !== 'web') {
    throw refused(`SearchType ${String(json.SearchType)} is illegal`, 10402)
  }
  const { Filter: filter } = json
  if (filter === undefined) return
  if (!isObject(filter)) throw refused('Filter must be an object')
  for (const key in filter) {
    if (key !== 'IcpHostOnly') throw refused(`unknown parameter Filter.${key}`)
  }
}

function search(exchange: Exchange): Reply {
  const { json } = exchange
  check(json)
  failWhereAsked(exchange)
  const count = Number(json.DocCount ?? 10)
  const query = exchange.script.plain || String(json.Query)
  const Documents = Array.from({ length: count }, (_, index) => documentFor(query, index, json))
  const Result = { TotalDocCount: count, ErrorCode: 0, ErrorMsg: '', Documents }
  const charge = { model: 'global_search', units: { call: 1 } }
  return whole(200, { ResponseMetadata: metadataOf(exchange), Result }, { charge })
}

function documentFor(query: string, index: number, json: Json): Json {
  const snippet = `Snippet ${index + 1} about ${query}.`
  const images = Array.from({ length: Number(json.MaxImageCountPerDoc ?? 0) }, (_, at) => {
    const ImageUrl = `https://example.org/images/${index + 1}-${at + 1}.png`
    return { Type: 'image', Image: { ImageUrl, Width: 640, Height: 360, Alt: '' } }
  })
  const Text = snippet.slice(0, Number(json.MaxSnippetLength ?? 3000))
  return {
    Rank: index + 1,
    Url: `https://example.org/documents/${index + 1}`,
    Title: `${query} (${index + 1})`,
    Snippet: [{ Type: 'text', Text }, ...images],
    DocumentInfo: {
      PublishTime: '2026-04-02',
      ContentCharCount: 5120,
      ContentTokenCount: 1400,
      Filetype: 'html',
    },
    HostInfo: { Hostname: 'example.org', IconUrl: '' },
  }
}
