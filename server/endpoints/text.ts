/** What the text endpoints share: how large a request is and what it may come to. */
import type { RelayReport } from '../dialects/relay.ts'
import { isObject } from '../lib/json.ts'
import type { Quantities } from '../lib/units.ts'
import type { Body, QuotedRequest } from '../pipeline/metering.ts'

/** The hold for a call that names no limit at a model that has none either. */
const OUTPUT_TOKENS_DEFAULT = 4_096
const BYTES_PER_TOKEN = 4
/** An image's tokens depend on its size, which is not known here; most cost less. */
const IMAGE_TOKENS = 1_600

/** The operator's own limit is far below this one. */
export const TEXT_BODY_BYTES_MAX = 256 * 1024 * 1024

/**
 * Tokens of all text in a request, at four UTF-8 bytes each. Media are counted flat: their bytes
 * are not text.
 */
export function estimateInputTokens(...parts: readonly unknown[]): number {
  const tally = { bytes: 0, images: 0 }
  for (const part of parts) countText(part, tally)
  return Math.ceil(tally.bytes / BYTES_PER_TOKEN) + tally.images * IMAGE_TOKENS
}

interface Tally {
  bytes: number
  images: number
}

function countText(value: unknown, tally: Tally): void {
  if (typeof value === 'string') {
    if (value.startsWith('data:')) tally.images += 1
    else tally.bytes += Buffer.byteLength(value)
  } else if (Array.isArray(value)) {
    for (const item of value) countText(item, tally)
  } else if (isObject(value)) {
    if (isMedia(value)) tally.images += 1
    else for (const key of Object.keys(value)) if (key !== 'type') countText(value[key], tally)
  }
}

const MEDIA_TYPES = new Set(['image', 'image_url', 'input_image', 'input_audio', 'document'])

function isMedia(part: Readonly<Record<string, unknown>>): boolean {
  return typeof part.type === 'string' && MEDIA_TYPES.has(part.type)
}

/** Input and the most output the caller allows, `choices` times. */
export function quoteText(
  { value, inputTokens, model }: QuotedRequest,
  limitFields: readonly string[],
): Quantities {
  const named = limitFields.map((field) => value[field]).find((limit) => limit !== undefined)
  const limit = model.limits.max_output_tokens ?? OUTPUT_TOKENS_DEFAULT
  const most = typeof named === 'number' ? named : limit
  const choices = typeof value.n === 'number' ? value.n : 1
  return { input_token: inputTokens, output_token: most * choices }
}

/** Without usage: the estimated input, and the output that was seen. */
export function estimateText(inputTokens: number, report: RelayReport): Quantities {
  return {
    input_token: inputTokens,
    output_token: Math.ceil(report.outputBytes / BYTES_PER_TOKEN),
  }
}

export function asksForStream(value: Body): boolean {
  return value.stream === true
}
