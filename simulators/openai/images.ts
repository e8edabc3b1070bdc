// POST /images/generations, /images/edits and /images/variations of OpenAI. Models whose name
// contains `dall-e` answer with URLs and without usage; all others with base64 and tokens, as
// gpt-image does.
import { isInteger, isObject, type Json, text } from '../kernel/checks.ts'
import { dataEvent, namedEvent } from '../kernel/events.ts'
import { type Exchange, type Frame, type Reply, type Route, whole } from '../kernel/exchange.ts'
import type { Platform } from '../kernel/platform.ts'
import { bentUsage } from '../kernel/usage.ts'
import { paintCard } from '../media/scene.ts'
import { tokensOf } from '../model/tokens.ts'
import { badType, badValue, invalid, missing, openaiError } from './errors.ts'
import { type ModelList, unknownModel } from './models.ts'
import { countPictures, readPictureForm } from './pictures.ts'

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
const PICTURE_KEYS = new Set(['image', 'image[]', 'images', 'mask', 'input_fidelity'])
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
  /** Tokens of the input pictures. */
  pictureTokens: number
}

type Kind = 'generations' | 'edits' | 'variations'

const OPERATIONS: Record<Kind, string> = {
  generations: 'images.generate',
  edits: 'images.edit',
  variations: 'images.vary',
}
const PICTURE_TOKENS = 323
const FIDELITY_TOKENS = 4160

export function imagesRoutes(models: ModelList, platform: Platform): Route[] {
  return (['generations', 'edits', 'variations'] as const).map((kind) => ({
    method: 'POST',
    path: `/images/${kind}`,
    operation: OPERATIONS[kind],
    text: (json) => (isObject(json) ? text(json.prompt) : ''),
    handle: (exchange) => generate(exchange, models, platform, kind),
  }))
}

function generate(exchange: Exchange, models: ModelList, platform: Platform, kind: Kind): Reply {
  const { scenario } = exchange
  const json = kind === 'generations' ? exchange.json : readPictureForm(exchange.json)
  const order = readImages(json, models, kind)
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
    : {
        input_token: figures.input_tokens_details.text_tokens,
        ...(order.pictureTokens > 0 ? { image_input_token: order.pictureTokens } : {}),
        image_output_token: figures.output_tokens,
      }
  const charge = { model: order.model, units, reported: usage }
  const sentUsage = usage === undefined ? {} : { usage }
  if (isObject(json) && json.stream === true && !order.old) {
    const type = kind === 'edits' ? 'image_edit.completed' : 'image_generation.completed'
    return streamed(exchange, order, { type, ...shared, ...sentUsage }, charge)
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
  shared: Json & { type: string; created: number },
  charge: { model: string; units: Record<string, number>; reported: unknown },
): Reply {
  const { type } = shared
  const b64_json = paint(exchange, order).toString('base64')
  const last: Frame = namedEvent(type, { b64_json, ...shared, created_at: shared.created })
  return {
    kind: 'stream',
    status: 200,
    frames: [last],
    charge,
    error: (_, failure) => [namedEvent('error', { type: 'error', ...openaiError(failure) })],
    padding: (bytes) => dataEvent({ type: 'padding', padding: 'x'.repeat(bytes) }),
  }
}

function usageOf({ prompt, quality, width, height, count, pictureTokens }: ImageOrder) {
  const shape = width === height ? 0 : width > height ? 1 : 2
  const text_tokens = tokensOf(prompt)
  const image_tokens = (TOKENS[quality]?.[shape] ?? 0) * count
  return {
    input_tokens: text_tokens + pictureTokens,
    input_tokens_details: { text_tokens, image_tokens: pictureTokens },
    output_tokens: image_tokens,
    total_tokens: text_tokens + pictureTokens + image_tokens,
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

function readImages(json: unknown, models: ModelList, kind: Kind): ImageOrder {
  if (!isObject(json)) throw invalid('', undefined, 'We could not parse the JSON body.')
  for (const key in json) {
    if (KEYS.has(key) || (kind !== 'generations' && PICTURE_KEYS.has(key))) continue
    throw invalid(key, 'unknown_parameter', `Unknown parameter: '${key}'.`)
  }
  const { model = 'dall-e-2', n = 1, response_format: format } = json
  const prompt = kind === 'variations' ? 'a variation' : json.prompt
  const pictures = kind === 'generations' ? 0 : countPictures(json)
  if (prompt === undefined || prompt === '') throw missing('prompt')
  if (typeof prompt !== 'string') throw badType('prompt', 'a string')
  if (typeof model !== 'string' || !models.has(model)) throw unknownModel(String(model))
  if (!isInteger(n, 1, 10)) throw badType('n', 'an integer between 1 and 10')
  const old = model.includes('dall-e')
  if (kind === 'variations' && !old) throw badValue('model', model, ['dall-e-2'])
  const size = oneOf(json, 'size', old ? OLD_SIZES : SIZES) ?? '1024x1024'
  const quality = oneOf(json, 'quality', old ? OLD_QUALITIES : QUALITIES) ?? 'auto'
  if (format !== undefined && !old) {
    throw invalid('response_format', 'unknown_parameter', "Unknown parameter: 'response_format'.")
  }
  const [width = 1024, height = 1024] = size === 'auto' ? [1024, 1024] : size.split('x').map(Number)
  const base64 = !old || format === 'b64_json'
  const chosen = quality === 'auto' ? 'medium' : quality
  const each = PICTURE_TOKENS + (json.input_fidelity === 'high' ? FIDELITY_TOKENS : 0)
  return {
    model,
    prompt,
    count: Number(n),
    width,
    height,
    quality: chosen,
    old,
    base64,
    pictureTokens: pictures * each,
  }
}

function oneOf(json: Json, name: string, allowed: string[]): string | undefined {
  const value = json[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && allowed.includes(value)) return value
  throw badValue(name, value, allowed)
}
