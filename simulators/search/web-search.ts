// POST /search_api/web_search: custom search of the web, summaries and images.
import { isInteger, isObject, type Json, text } from '../kernel/checks.ts'
import { type Exchange, type Reply, type Route, whole } from '../kernel/exchange.ts'
import { tokensOf } from '../model/tokens.ts'
import { failWhereAsked, metadataOf, refused } from './errors.ts'

const KEYS = new Set([
  'Query',
  'SearchType',
  'Count',
  'Filter',
  'NeedSummary',
  'TimeRange',
  'QueryControl',
  'ContentFormats',
  'Industry',
])
const FILTERS = new Set([
  'NeedContent',
  'NeedUrl',
  'Sites',
  'BlockHosts',
  'AuthInfoLevel',
  'Industry',
  'ImageWidthMin',
  'ImageWidthMax',
  'ImageHeightMin',
  'ImageHeightMax',
  'ImageShapes',
])
const TIME_RANGE = /^(OneDay|OneWeek|OneMonth|OneYear|\d{4}-\d\d-\d\d\.\.\d{4}-\d\d-\d\d)$/

export const webSearchRoute: Route = {
  method: 'POST',
  path: '/search_api/web_search',
  operation: 'web_search',
  text: (json) => (isObject(json) ? text(json.Query) : ''),
  handle: search,
}

export function checkQuery(json: unknown, keys: Set<string>): asserts json is Json {
  if (!isObject(json)) throw refused('the body must be a JSON object')
  for (const key in json) if (!keys.has(key)) throw refused(`unknown parameter ${key}`)
  if (typeof json.Query !== 'string') throw refused('Query is required')
  const length = [...json.Query].length
  if (length < 1 || length > 100) throw refused('Query must have 1 to 100 characters')
}

function check(json: unknown): asserts json is Json {
  checkQuery(json, KEYS)
  const { SearchType: type = 'web', Count: count, Filter: filter, TimeRange: range } = json
  if (!['web', 'web_summary', 'image'].includes(String(type))) {
    throw refused(`SearchType ${String(type)} is illegal`, 10402)
  }
  const most = type === 'image' ? 5 : 50
  if (count !== undefined && !isInteger(count, 1, most)) {
    throw refused(`Count must be between 1 and ${most}`)
  }
  for (const key of ['NeedSummary']) {
    if (json[key] !== undefined && typeof json[key] !== 'boolean') throw refused(`${key} is bad`)
  }
  if (range !== undefined && !TIME_RANGE.test(String(range))) throw refused('TimeRange is bad')
  const formats = json.ContentFormats
  if (formats !== undefined && formats !== 'text' && formats !== 'markdown') {
    throw refused('ContentFormats is bad')
  }
  if (filter !== undefined) checkFilter(filter)
}

function checkFilter(filter: unknown): void {
  if (!isObject(filter)) throw refused('Filter must be an object')
  for (const key in filter) if (!FILTERS.has(key)) throw refused(`unknown parameter Filter.${key}`)
  for (const [key, most] of [
    ['Sites', 20],
    ['BlockHosts', 5],
  ] as const) {
    const hosts = filter[key]
    if (hosts === undefined) continue
    if (typeof hosts !== 'string' || hosts.split('|').length > most) {
      throw refused(`Filter.${key} takes at most ${most} hosts`)
    }
  }
  const level = filter.AuthInfoLevel
  if (level !== undefined && !isInteger(level, 0, 1)) throw refused('Filter.AuthInfoLevel is bad')
}

function search(exchange: Exchange): Reply {
  const { json } = exchange
  check(json)
  failWhereAsked(exchange)
  const type = String(json.SearchType ?? 'web')
  const image = type === 'image'
  const count = Number(json.Count ?? (image ? 5 : 10))
  const query = exchange.script.plain || String(json.Query)
  const results = Array.from({ length: count }, (_, index) =>
    image ? imageResult(query, index) : webResult(query, index, json),
  )
  const summary = type === 'web_summary' ? summaryOf(query) : { Choices: null, Usage: null }
  const Result = {
    ResultCount: count,
    WebResults: image ? null : results,
    ImageResults: image ? results : null,
    CardResults: null,
    SearchContext: { OriginQuery: json.Query, SearchType: type },
    TimeCost: 12,
    LogId: exchange.requestId,
    ...summary,
  }
  const charge = { model: 'web_search', units: { call: 1 } }
  return whole(200, { ResponseMetadata: metadataOf(exchange), Result }, { charge })
}

function webResult(query: string, index: number, json: Json): Json {
  const filter = isObject(json.Filter) ? json.Filter : {}
  const host = text(filter.Sites).split('|')[0] || 'example.com'
  const long = json.NeedSummary === true || json.SearchType === 'web_summary'
  const snippet = `Snippet ${index + 1} about ${query}.`
  return {
    Id: `d${index + 1}`,
    SortId: index + 1,
    Title: `${query} (${index + 1})`,
    SiteName: 'Example Site',
    Url: `https://${host}/articles/${index + 1}`,
    Snippet: snippet,
    Summary: long ? `${snippet} `.repeat(Math.ceil(500 / snippet.length)).trim() : snippet,
    Content: filter.NeedContent === true ? `The whole text about ${query}.` : '',
    PublishTime: '2026-05-01T08:00:00+08:00',
    LogoUrl: '',
    RankScore: Math.round((0.99 - index / 100) * 100) / 100,
    AuthInfoDes: '非常权威',
    AuthInfoLevel: 1,
  }
}

function imageResult(query: string, index: number): Json {
  const Url = `https://example.com/images/${index + 1}.png`
  return {
    Id: `i${index + 1}`,
    SortId: index + 1,
    Title: `${query} (${index + 1})`,
    SiteName: 'Example Site',
    Url: `https://example.com/articles/${index + 1}`,
    PublishTime: '2026-05-01T08:00:00+08:00',
    Image: { Url, Width: 640, Height: 360, Shape: 'horizontal' },
  }
}

function summaryOf(query: string): Json {
  const Content = `In short, ${query} is simulated.`
  const tokens = tokensOf(Content)
  return {
    Choices: [{ Index: 0, Message: { Role: 'assistant', Content }, FinishReason: 'stop' }],
    Usage: { PromptTokens: tokensOf(query), CompletionTokens: tokens },
  }
}
