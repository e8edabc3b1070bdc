// POST /embeddings: unit vectors, always the same for the same text.
import { isInteger, isObject, type Json, text } from '../kernel/checks.ts'
import { type Exchange, type Reply, type Route, whole } from '../kernel/exchange.ts'
import { bentUsage } from '../kernel/usage.ts'
import { tokensOf } from '../model/tokens.ts'
import { badType, badValue, invalid, missing } from './errors.ts'

const KEYS = new Set(['input', 'model', 'dimensions', 'encoding_format', 'user'])
const MAX_INPUTS = 2048

export interface EmbeddingsDialect {
  strict: boolean
  dimensions: number
  checkModel: (model: string, json: Json) => void
  headers: (exchange: Exchange) => Record<string, string>
}

export function embeddingsRoute(dialect: EmbeddingsDialect): Route {
  return {
    method: 'POST',
    path: '/embeddings',
    operation: 'embeddings',
    text: inputText,
    handle: (exchange) => handle(exchange, dialect),
  }
}

function inputText(json: unknown): string {
  const input = isObject(json) ? json.input : undefined
  return Array.isArray(input) ? input.map(text).join('\n') : text(input)
}

function handle(exchange: Exchange, dialect: EmbeddingsDialect): Reply {
  const { json, scenario } = exchange
  check(json, dialect)
  dialect.checkModel(String(json.model), json)
  const inputs = inputsOf(json.input)
  const dimensions = Number(json.dimensions ?? dialect.dimensions)
  const data = inputs.map((input, index) => {
    const vector = vectorFor(String(input), dimensions)
    const embedding = json.encoding_format === 'base64' ? base64(vector) : vector
    return { object: 'embedding', index, embedding }
  })
  const tokens = inputs.reduce<number>((sum, input) => {
    return sum + (Array.isArray(input) ? input.length : tokensOf(String(input)))
  }, 0)
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  const reported = bentUsage(usage, scenario.text('usage'))
  const body: Json = { object: 'list', data, model: json.model }
  if (reported !== undefined) body.usage = reported
  const charge = { model: String(json.model), units: { input_token: tokens }, reported }
  return whole(200, body, { headers: dialect.headers(exchange), charge })
}

/** Returns a list of inputs from a text, texts, tokens, or lists of tokens. */
function inputsOf(input: unknown): unknown[] {
  if (!Array.isArray(input)) return [input]
  return typeof input[0] === 'number' ? [input] : input
}

function check(json: unknown, dialect: EmbeddingsDialect): asserts json is Json {
  if (!isObject(json)) throw invalid('', undefined, 'We could not parse the JSON body.')
  for (const key in json) {
    if (dialect.strict && !KEYS.has(key)) {
      throw invalid('', undefined, `Unrecognized request argument supplied: ${key}`)
    }
  }
  if (json.model === undefined) throw invalid('', undefined, 'you must provide a model parameter')
  if (json.input === undefined || json.input === null) throw missing('input')
  checkInput(json.input)
  const { dimensions, encoding_format: format } = json
  if (dimensions !== undefined && !isInteger(dimensions, 1, 4096)) {
    throw badType('dimensions', 'an integer between 1 and 4096')
  }
  if (format !== undefined && format !== 'float' && format !== 'base64') {
    throw badValue('encoding_format', format, ['float', 'base64'])
  }
}

function checkInput(input: unknown): void {
  const list = Array.isArray(input) ? input : [input]
  const fits = (one: unknown): boolean =>
    (typeof one === 'string' && one !== '') ||
    isInteger(one, 0) ||
    (Array.isArray(one) && one.length > 0 && one.every((token) => isInteger(token, 0)))
  if (list.length === 0 || list.length > MAX_INPUTS || !list.every(fits)) {
    throw invalid('input', undefined, "'$.input' is invalid. Please check the API reference.")
  }
}

/** A xorshift generator seeded by the text, scaled to length one. */
function vectorFor(input: string, dimensions: number): number[] {
  let state = 2166136261
  for (const byte of Buffer.from(input)) state = Math.imul(state ^ byte, 16777619)
  state = state | 1
  const raw = Array.from({ length: dimensions }, () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state | 0) / 2147483648
  })
  const length = Math.hypot(...raw) || 1
  return raw.map((value) => Math.fround(value / length))
}

function base64(vector: number[]): string {
  const bytes = Buffer.alloc(vector.length * 4)
  vector.forEach((value, index) => {
    bytes.writeFloatLE(value, index * 4)
  })
  return bytes.toString('base64')
}
