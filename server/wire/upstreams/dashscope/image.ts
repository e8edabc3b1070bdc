/**
 * Images through the vendor's synchronous endpoint (docs/protocols/dashscope.md#images), answered
 * in OpenAI's form.
 */
import { asString, isObject, type JsonObject, member, writeJson } from '../../../base/lib/json.ts'
import { readResultUrl } from '../../../base/lib/result-url.ts'
import type { ImageRules } from '../../dialects/fields/model-field.ts'
import { InvalidRequest } from '../../dialects/invalid-request.ts'
import { UPSTREAM_ERROR } from '../../dialects/reported-error.ts'
import { type BodyReading, createBodyTap } from '../../dialects/tap.ts'
import { readCount, readDecimal, readFirstCount } from '../../dialects/usage/read-count.ts'
import { refusalOf } from '../../dialects/video/content.ts'
import { UpstreamFailure } from '../failure.ts'
import { sendWithKey } from '../send-with-key.ts'
import type { CallAdapter } from '../upstream.ts'
import { imageFamilyOf } from './families.ts'
import { describeDashscopeFailure, readDashscope } from './read-failure.ts'
import type { DashscopeSettings } from './settings.ts'

const PATH = '/api/v1/services/aigc/multimodal-generation/generation'
const OWN = ['negative_prompt', 'prompt_extend', 'watermark', 'seed', 'thinking_mode']
const READ = ['model', 'prompt', 'n', 'size', 'image', 'response_format', 'stream', 'user']
/** The border between the two prices of a picture. */
const PIXELS_1K = 2_250_000

/** Throws InvalidRequest for anything that the model does not accept. */
export function judgeDashscopeImage(value: JsonObject, upstreamModel: string): void {
  const { images, inputImages } = imageFamilyOf(upstreamModel)
  for (const [name, one] of Object.entries(value)) {
    const isTaken = READ.includes(name) || OWN.includes(name) || one === undefined || one === null
    if (!isTaken) throw new InvalidRequest(name, refusalOf([...READ.slice(1), ...OWN]))
  }
  if (value.response_format === 'b64_json') {
    throw new InvalidRequest('response_format', "this model answers with links: 'url'")
  }
  if (value.stream === true) throw new InvalidRequest('stream', 'this model does not stream')
  if (typeof value.n === 'number' && value.n > images) {
    throw new InvalidRequest('n', `this model makes at most ${images}`)
  }
  const pictures = picturesOf(value)
  if (pictures.length > inputImages || pictures.some((one) => typeof one !== 'string')) {
    const most = inputImages === 0 ? 'no images' : `at most ${inputImages}, each an address`
    throw new InvalidRequest('image', `this model takes ${most}`)
  }
}

export function dashscopeImageRules(upstreamModel: string): ImageRules {
  return { ...imageFamilyOf(upstreamModel), fields: OWN }
}

function picturesOf({ image }: JsonObject): readonly unknown[] {
  return Array.isArray(image) ? image : image === undefined || image === null ? [] : [image]
}

function buildBody(value: JsonObject, upstreamModel: string): JsonObject {
  const { prompt, n, size } = value
  const content = [...picturesOf(value).map((image) => ({ image })), { text: prompt }]
  const own = OWN.filter((name) => value[name] !== undefined && value[name] !== null)
  const sizeText = asString(size) ?? 'auto'
  return {
    model: upstreamModel,
    input: { messages: [{ role: 'user', content }] },
    parameters: {
      ...Object.fromEntries(own.map((name) => [name, value[name]])),
      n: n ?? 1,
      size: sizeText === 'auto' ? undefined : sizeText.replace('x', '*'),
    },
  }
}

function linksOf(document: unknown): readonly string[] {
  const choices = member(member(document, 'output'), 'choices')
  const parts = (Array.isArray(choices) ? choices : []).flatMap((choice) => {
    const content = member(member(choice, 'message'), 'content')
    return Array.isArray(content) ? content : []
  })
  return parts.flatMap((part) => readResultUrl(member(part, 'image')) ?? [])
}

function read(document: unknown, requestedSize: unknown): BodyReading {
  const links = linksOf(document)
  if (links.length === 0) return { outputBytes: 0, error: readError(document) }
  const usage = member(document, 'usage')
  const spellings = ['output_image_count', 'image_count'].map((name) => member(usage, name))
  // Delivered images were made: a stated count of zero does not make them free.
  const image = readFirstCount(...spellings) || links.length
  const size = sizeOf(usage, requestedSize)
  return { outputBytes: 1, usage: { image }, facts: size === undefined ? {} : { size } }
}

function readError(document: unknown) {
  const { code, message } = isObject(document) ? document : {}
  return typeof code === 'string' && code !== ''
    ? { ...UPSTREAM_ERROR, code, message: asString(message) ?? UPSTREAM_ERROR.message }
    : UPSTREAM_ERROR
}

/** Returns the size by which pictures are priced: that of the answer, else that of the request. */
function sizeOf(usage: unknown, sizeText: unknown): '1K' | '2K' | undefined {
  const kind = /_(1|2)k$/.exec(asString(member(usage, 'output_image_type')) ?? '')?.[1]
  if (kind) return kind === '1' ? '1K' : '2K'
  const statedPixels = pixelsOf(usage, 'output_') ?? pixelsOf(usage, '')
  const text = asString(member(usage, 'size')) ?? asString(sizeText) ?? ''
  const [, width, height] = /^(\d{1,5})[x*](\d{1,5})$/.exec(text) ?? []
  const pixels = statedPixels ?? (width === undefined ? undefined : Number(width) * Number(height))
  return pixels === undefined ? undefined : pixels <= PIXELS_1K ? '1K' : '2K'
}

/** Returns the pixels of a picture that was made, where the answer states its sides. */
function pixelsOf(usage: unknown, start: '' | 'output_'): number | undefined {
  const [width, height] = ['width', 'height'].map((side) => {
    return readCount(readDecimal(member(usage, start + side)))
  })
  return width && height ? width * height : undefined
}

export const dashscopeImage: CallAdapter<DashscopeSettings> = async (wire, call) => {
  const { settings, upstreamModel, request } = call
  const { value, createdAtSeconds: created } = request
  judgeDashscopeImage(value, upstreamModel)
  const body = Buffer.from(writeJson(buildBody(value, upstreamModel)))
  const response = await sendWithKey(wire, settings, 'POST', PATH, body)
  if (response.status >= 400) await readDashscope(response, value)
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: response.body,
    relay: createBodyTap(
      (document) => read(document, value.size),
      (document) => ({ created, data: linksOf(document).map((url) => ({ url })) }),
    ),
    stream: false,
    refusal: ({ error }) => {
      if (error === undefined) return undefined
      if (error === UPSTREAM_ERROR) return new UpstreamFailure('unknown', { status: 200 })
      return describeDashscopeFailure(200, error, value)
    },
  }
}
