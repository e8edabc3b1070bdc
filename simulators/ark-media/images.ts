// POST /images/generations of ARK (Seedream): whole or as events. Each picture is a success or an
// error of its own; only successful ones are billed (82379/1541523).

import { arkErrorBody } from '../ark/errors.ts'
import { isInteger, isObject, type Json, text } from '../kernel/checks.ts'
import { dataEvent, namedEvent } from '../kernel/events.ts'
import {
  type Exchange,
  type Frame,
  Refused,
  type Reply,
  type Route,
  whole,
} from '../kernel/exchange.ts'
import type { Platform } from '../kernel/platform.ts'
import type { ScenarioName } from '../kernel/scenario.ts'
import { bentUsage } from '../kernel/usage.ts'
import { paintCard } from '../media/scene.ts'
import { invalid, missing, sensitive, unknownMediaModel, unsupported } from './refusals.ts'

const DAY_MS = 86_400_000
const PIXELS_PER_TOKEN = 256
/** The number of images from a model that may choose and has no limit set. */
const CHOSEN_IMAGES = 3

export const IMAGE_SCENARIOS: ScenarioName[] = [
  {
    name: 'fail-images',
    takes: 'number',
    description: 'the last N pictures of an answer are errors',
  },
]

interface ImageOrder {
  model: string
  prompt: string
  width: number
  height: number
  count: number
  base64: boolean
  stream: boolean
}

export function imageRoute(platform: Platform): Route {
  return {
    method: 'POST',
    path: '/images/generations',
    operation: 'images.generate',
    text: (json) => (isObject(json) ? text(json.prompt) : ''),
    handle: (exchange) => generate(exchange, platform),
  }
}

function generate(exchange: Exchange, platform: Platform): Reply {
  const { scenario } = exchange
  const order = readImages(exchange.json)
  if (scenario.has('moderation')) throw sensitive('InputText')
  const failed = Math.min(order.count, scenario.number('fail-images') ?? 0)
  const succeeded = order.count - failed
  if (succeeded === 0) {
    const message = 'The request failed because of what was generated.'
    throw new Refused({ status: 400, code: 'OutputImageSensitiveContentDetected', message })
  }
  const data = Array.from({ length: order.count }, (_, index) =>
    index < succeeded ? pictureOf(exchange, platform, order, index) : failedPicture(),
  )
  const tokens = succeeded * Math.floor((order.width * order.height) / PIXELS_PER_TOKEN)
  const figures = { generated_images: succeeded, output_tokens: tokens, total_tokens: tokens }
  const usage = bentUsage(figures, scenario.text('usage'))
  const charge = { model: order.model, units: { image: succeeded }, reported: usage }
  const created = Math.floor(Date.now() / 1000)
  const shared = { model: order.model, created }
  if (!order.stream) {
    return whole(200, { ...shared, data, usage }, { charge })
  }
  const frames = [
    ...data.map((picture, index) => pictureEvent(picture, { ...shared, image_index: index })),
    event('image_generation.completed', { ...shared, usage }),
    { data: 'data: [DONE]\n\n' },
  ]
  return {
    kind: 'stream',
    status: 200,
    frames,
    charge,
    error: (_, failure) => [event('error', arkErrorBody(exchange.requestId)(failure))],
    padding: (bytes) => dataEvent({ type: 'padding', padding: 'x'.repeat(bytes) }),
  }
}

const event = (type: string, value: object): Frame => namedEvent(type, { type, ...value })

function pictureEvent(picture: Json, shared: Json): Frame {
  const kind = picture.error === undefined ? 'partial_succeeded' : 'partial_failed'
  return event(`image_generation.${kind}`, { ...shared, ...picture })
}

function pictureOf(
  exchange: Exchange,
  { shelf }: Platform,
  order: ImageOrder,
  index: number,
): Json {
  const { width, height } = order
  const title = `${order.model} ${width}x${height} no. ${index + 1}`
  const prompt = exchange.script.plain || order.prompt
  const render = () => paintCard({ title, prompt, width, height })
  const size = `${width}x${height}`
  if (order.base64) return { b64_json: render().toString('base64'), size }
  const origin = `http://${exchange.request.headers.host ?? '127.0.0.1'}`
  const file = { name: `${index}.png`, contentType: 'image/png', render }
  return { url: origin + shelf.put(file, DAY_MS), size }
}

function failedPicture(): Json {
  const message = 'The image may contain sensitive information.'
  return { error: { code: 'OutputImageSensitiveContentDetected', message } }
}

function readImages(json: unknown): ImageOrder {
  if (!isObject(json)) throw invalid('body')
  const { model, prompt } = json
  if (model === undefined || model === '') throw missing('model')
  if (typeof model !== 'string' || !/^((doubao-)?seedream-\d|sim-|ep-)/.test(model)) {
    throw unknownMediaModel(text(model))
  }
  if (prompt === undefined || prompt === '') throw missing('prompt')
  if (typeof prompt !== 'string') throw invalid('prompt')
  const old = model.includes('seedream-3-')
  checkOptions(json, old)
  const [width, height] = sizeOf(json.size, old, model)
  return {
    model,
    prompt,
    width,
    height,
    count: countOf(json),
    base64: json.response_format === 'b64_json',
    stream: json.stream === true,
  }
}

const CHOICES: Record<string, readonly string[]> = {
  response_format: ['url', 'b64_json'],
  sequential_image_generation: ['auto', 'disabled'],
  output_format: ['png', 'jpeg'],
}

function checkOptions(json: Json, old: boolean): void {
  for (const [name, allowed] of Object.entries(CHOICES)) {
    const value = json[name]
    if (value !== undefined && !allowed.includes(text(value))) throw invalid(name)
  }
  for (const name of ['watermark', 'stream']) {
    if (json[name] !== undefined && typeof json[name] !== 'boolean') throw invalid(name)
  }
  for (const name of ['seed', 'guidance_scale']) {
    if (json[name] !== undefined && !old) throw unsupported(name)
  }
  const images = referencesOf(json)
  if (images.length > 14 || !images.every((url) => /^(https?:|data:image)/.test(text(url)))) {
    throw invalid('image')
  }
  if (old && (images.length > 0 || json.sequential_image_generation === 'auto')) {
    throw unsupported(images.length > 0 ? 'image' : 'sequential_image_generation')
  }
}

function referencesOf({ image }: Json): unknown[] {
  if (image === undefined) return []
  return Array.isArray(image) ? image : [image]
}

/** References and pictures together are at most fifteen. */
function countOf(json: Json): number {
  if (json.sequential_image_generation !== 'auto') return 1
  const options = json.sequential_image_generation_options
  const maxImages = isObject(options) ? options.max_images : undefined
  if (maxImages !== undefined && !isInteger(maxImages, 1, 15)) {
    throw invalid('sequential_image_generation_options.max_images')
  }
  return Math.min(Number(maxImages ?? CHOSEN_IMAGES), 15 - referencesOf(json).length)
}

const SIDES: Record<string, number> = { '1K': 1024, '2K': 2048, '3K': 3072, '4K': 4096 }

function sizeOf(size: unknown, old: boolean, model: string): [number, number] {
  const side = SIDES[text(size)] ?? (size === undefined ? (old ? 1024 : 2048) : undefined)
  if (side !== undefined) return [side, side]
  const found = /^(\d{2,5})x(\d{2,5})$/.exec(text(size))
  if (!found) throw invalid('size')
  const [width, height] = [Number(found[1]), Number(found[2])]
  const aspect = width / height
  const least = /seedream-(4-5|5)/.test(model) ? 3_686_400 : 262_144
  const fits = width * height >= least && width * height <= 16_777_216
  if (!fits || aspect > 16 || aspect < 1 / 16) throw invalid('size')
  return [width, height]
}
