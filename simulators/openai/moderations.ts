// POST /moderations: flags the categories that the input names.
import type { Units } from '../kernel/book.ts'
import { isObject, type Json, objects, text, textOfParts } from '../kernel/checks.ts'
import { type Exchange, type Reply, type Route, whole } from '../kernel/exchange.ts'
import { tokensOf } from '../model/tokens.ts'
import { badType, invalid, missing } from './errors.ts'

const KEYS = new Set(['input', 'model'])
const CATEGORIES = ['harassment', 'hate', 'illicit', 'self-harm', 'sexual', 'violence']
const DEFAULT_MODEL = 'sim-moderation'
/** This one states its usage and bills by it; OpenAI's own models are free. */
const BY_TOKENS = 'sim-moderation-tokens'

export interface ModerationsDialect {
  checkModel: (model: string, json: Json) => void
  headers: (exchange: Exchange) => Record<string, string>
}

export function moderationsRoute(dialect: ModerationsDialect): Route {
  return {
    method: 'POST',
    path: '/moderations',
    operation: 'moderations',
    text: (json) => (isObject(json) ? textsOf(json.input).join('\n') : ''),
    handle: (exchange) => handle(exchange, dialect),
  }
}

/** Returns one text for each result: parts have one together. */
function textsOf(input: unknown): string[] {
  if (!Array.isArray(input)) return [text(input)]
  return input.some(isObject) ? [textOfParts(input, '\n')] : input.map(text)
}

function handle(exchange: Exchange, dialect: ModerationsDialect): Reply {
  const { json } = exchange
  check(json)
  const model = text(json.model) || DEFAULT_MODEL
  dialect.checkModel(model, json)
  const texts = textsOf(json.input)
  const tokens = texts.reduce((sum, one) => sum + tokensOf(one), 0)
  const isByTokens = model === BY_TOKENS
  const reported = isByTokens ? { prompt_tokens: tokens, total_tokens: tokens } : undefined
  const body = {
    id: `modr-${exchange.requestId}`,
    model,
    results: texts.map(classify),
    usage: reported,
  }
  const units: Units = isByTokens ? { input_token: tokens } : { call: 1 }
  const charge = { model, units, reported }
  return whole(200, body, { headers: dialect.headers(exchange), charge })
}

function classify(words: string): Json {
  const categories = Object.fromEntries(CATEGORIES.map((name) => [name, words.includes(name)]))
  const scores = CATEGORIES.map((name) => [name, categories[name] ? 0.97 : 0.0001])
  return {
    flagged: Object.values(categories).includes(true),
    categories,
    category_scores: Object.fromEntries(scores),
  }
}

function check(json: unknown): asserts json is Json {
  if (!isObject(json)) throw invalid('', undefined, 'We could not parse the JSON body.')
  for (const key in json) {
    if (KEYS.has(key)) continue
    throw invalid('', undefined, `Unrecognized request argument supplied: ${key}`)
  }
  const { input } = json
  if (input === undefined || input === null) throw missing('input')
  const list = Array.isArray(input) ? input : [input]
  const isText = list.length > 0 && list.every((one) => typeof one === 'string')
  const isParts = list.length > 0 && objects(input).length === list.length
  if (!isText && !(isParts && objects(input).every(isPart))) {
    throw badType('input', 'a string, an array of strings, or an array of objects')
  }
}

function isPart({ type, text: words, image_url: image }: Json): boolean {
  if (type === 'text') return typeof words === 'string'
  return type === 'image_url' && isObject(image) && typeof image.url === 'string'
}
