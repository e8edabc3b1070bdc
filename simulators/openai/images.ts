// POST /images/generations of OpenAI. Models whose name contains `dall-e` answer with URLs and
// without usage; all others with base64 and tokens, as gpt-image does.
import { isInteger, isObject, type Json, text } from '../kernel/checks.ts'
import { dataEvent, namedEvent } from '../kernel/events.ts'
import { type Exchange, type Frame, type Reply, type Route, whole } from '../kernel/exchange.ts'
import type { Platform } from '../kernel/platform.ts'
import { bentUsage } from '../kernel/usage.ts'
import { paintCard } from '../media/scene.ts'
import { tokensOf } from '../model/tokens.ts'
import { badType, badValue, invalid, missing, openaiError } from './errors.ts'
import { type ModelList, unknownModel } from './models.ts'

const HOUR_MS = 3_600_000
const KEYS = new Set([
  'prompt',
  'model',
  'n',
  'size',
  'quality',
  'style',
  'background',
  'moderation',
  'output_format',
  'output_compression',
  'partial_images',
  'response_format',
  'stream',
  'user',
])
const SIZES = ['auto', '1024x1024', '1536x1024', '1024x1536']
const OLD_SIZES = ['256x256', '512x512', '1024x1024', '1792x1024', '1024x1792']
const QUALITIES = ['auto', 'low', 'medium', 'high']
const OLD_QUALITIES = ['standard', 'hd']

/** Tokens of a picture by quality: square, landscape, portrait. */
const TOKENS: Record<string, readonly [number, number, number]> = {
  low: [272, 400, 408],
  medium: [1056, 1568, 1584],
  high: [4160, 6208, 6240],
}

interface ImageOrder {
  model: string
  prompt: string
  count: number
  width: number
  height: number
  quality: string
  old: boolean
  base64: boolean
}

export function imagesRoute(models: ModelList, platform: Platform): Route {
  return {
    method: 'POST',
    path: '/images/generations',
    operation: 'images.generate',
    text: (json) => (isObject(json) ? text(json.prompt) : ''),
    handle: (exchange) => generate(exchange, models, platform),
  }
}

function generate(exchange: Exchange, models: ModelList, platform: Platform): Reply {
  const { json, scenario } = exchange
  const order = readImages(json, models)
  if (scenario.has('moderation')) {
    const message = 'Your request was rejected by the safety system.'
    throw invalid('prompt', 'moderation_blocked', message)
  }
  const shared = {
    created: Math.floor(Date.now() / 1000),
    ...(order.old ? {} : describe(order)),
  }
  const figures = usageOf(order)
  const usage = order.old ? undefined : bentUsage(figures, scenario.text('usage'))
  const units: Record<string, number> = order.old
    ? { image: order.count }
    : { input_token: figures.input_tokens, image_output_token: figures.output_tokens }
  const charge = { model: order.model, units, reported: usage }
  const sentUsage = usage === undefined ? {} : { usage }
  if (isObject(json) && json.stream === true && !order.old) {
    return streamed(exchange, order, { ...shared, ...sentUsage }, charge)
  }
  const data = Array.from({ length: order.count }, () => pictureOf(exchange, platform, order))
  return whole(200, { ...shared, data, ...sentUsage }, { charge })
}

function describe({ width, height, quality }: ImageOrder): Json {
  return { background: 'opaque', output_format: 'png', quality, size: `${width}x${height}` }
}

function streamed(
  exchange: Exchange,
  order: ImageOrder,
  shared: Json,
  charge: { model: string; units: Record<string, number>; reported: unknown },
): Reply {
  const type = 'image_generation.completed'
  const b64_json = paint(exchange, order).toString('base64')
  const last: Frame = namedEvent(type, { type, b64_json, ...shared, created_at: shared.created })
  return {
    kind: 'stream',
    status: 200,
    frames: [last],
    charge,
    error: (_, failure) => [namedEvent('error', { type: 'error', ...openaiError(failure) })],
    padding: (bytes) => dataEvent({ type: 'padding', padding: 'x'.repeat(bytes) }),
  }
}

function usageOf({ prompt, quality, width, height, count }: ImageOrder) {
  const shape = width === height ? 0 : width > height ? 1 : 2
  const text_tokens = tokensOf(prompt)
  const image_tokens = (TOKENS[quality]?.[shape] ?? 0) * count
  return {
    input_tokens: text_tokens,
    input_tokens_details: { text_tokens, image_tokens: 0 },
    output_tokens: image_tokens,
    total_tokens: text_tokens + image_tokens,
    output_tokens_details: { image_tokens, text_tokens: 0 },
  }
}

function paint(exchange: Exchange, order: ImageOrder): Buffer {
  const { width, height, model } = order
  const prompt = exchange.script.plain || order.prompt
  return paintCard({ title: `${model} ${width}x${height}`, prompt, width, height })
}

function pictureOf(exchange: Exchange, { shelf }: Platform, order: ImageOrder): Json {
  if (order.base64) return { b64_json: paint(exchange, order).toString('base64') }
  const origin = `http://${exchange.request.headers.host ?? '127.0.0.1'}`
  const render = () => paint(exchange, order)
  const url = origin + shelf.put({ name: 'image.png', contentType: 'image/png', render }, HOUR_MS)
  return { url, revised_prompt: order.prompt }
}

function readImages(json: unknown, models: ModelList): ImageOrder {
  if (!isObject(json)) throw invalid('', undefined, 'We could not parse the JSON body.')
  for (const key in json) {
    if (KEYS.has(key)) continue
    throw invalid(key, 'unknown_parameter', `Unknown parameter: '${key}'.`)
  }
  const { prompt, model = 'dall-e-2', n = 1, response_format: format } = json
  if (prompt === undefined || prompt === '') throw missing('prompt')
  if (typeof prompt !== 'string') throw badType('prompt', 'a string')
  if (typeof model !== 'string' || !models.has(model)) throw unknownModel(String(model))
  if (!isInteger(n, 1, 10)) throw badType('n', 'an integer between 1 and 10')
  const old = model.includes('dall-e')
  const size = oneOf(json, 'size', old ? OLD_SIZES : SIZES) ?? '1024x1024'
  const quality = oneOf(json, 'quality', old ? OLD_QUALITIES : QUALITIES) ?? 'auto'
  if (format !== undefined && !old) {
    throw invalid('response_format', 'unknown_parameter', "Unknown parameter: 'response_format'.")
  }
  const [width = 1024, height = 1024] = size === 'auto' ? [1024, 1024] : size.split('x').map(Number)
  const base64 = !old || format === 'b64_json'
  const chosen = quality === 'auto' ? 'medium' : quality
  return { model, prompt, count: Number(n), width, height, quality: chosen, old, base64 }
}

function oneOf(json: Json, name: string, allowed: string[]): string | undefined {
  const value = json[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && allowed.includes(value)) return value
  throw badValue(name, value, allowed)
}
