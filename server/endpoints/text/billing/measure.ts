/**
 * Measures what the size of a text request does not show: media, whose bytes are not text,
 * references to content outside the body, and requested caches. Media count only where the dialect
 * allows them; everything else in a body counts as text.
 */
import { isObject } from '../../../lib/json.ts'

/** Tokens per image, regardless of its size; most cost less. */
const IMAGE_TOKENS = 1_600
/** Bytes of base64: a second of common audio counts as 35 tokens. */
const AUDIO_BYTES_PER_TOKEN = 600
/** Bytes of base64: a common document costs its text and an image of each page. */
const DOCUMENT_BYTES_PER_TOKEN = 40

export interface Measure {
  /** Bytes of base64 that are an image, a recording or a document. */
  mediaBytes: number
  mediaTokens: number
  /** Tokens of recordings, which have their own prices. */
  audioTokens: number
  /** True if the body does not bound the input: a part is elsewhere, or larger than its bytes. */
  isOpen: boolean
  /** The field of the first audio input, if any. */
  audioAt: string | undefined
  /** True if the request names a cache. */
  hasCache: boolean
  /** The first field that requests a cache lifetime beyond the default, and the lifetime. */
  longCache: { readonly field: string; readonly ttl: string } | undefined
}

export function createMeasure(): Measure {
  return {
    mediaBytes: 0,
    mediaTokens: 0,
    audioTokens: 0,
    isOpen: false,
    audioAt: undefined,
    hasCache: false,
    longCache: undefined,
  }
}

export type MediaKind = 'image' | 'audio' | 'document'

/** Adds media in base64, or outside the body if `base64` is not a string. */
export function addMedia(measure: Measure, kind: MediaKind, base64: unknown): void {
  measure.isOpen = true
  const bytes = typeof base64 === 'string' ? base64.length : 0
  measure.mediaBytes += bytes
  if (kind === 'audio') measure.audioTokens += tokensOf(kind, bytes)
  else measure.mediaTokens += tokensOf(kind, bytes)
}

function tokensOf(kind: MediaKind, bytes: number): number {
  if (kind === 'image') return IMAGE_TOKENS
  const each = kind === 'audio' ? AUDIO_BYTES_PER_TOKEN : DOCUMENT_BYTES_PER_TOKEN
  return Math.max(IMAGE_TOKENS, Math.ceil(bytes / each))
}

const DATA_URL = /^data:[^,]{0,200};base64,/i

/** Adds media by URL: a data URL contains its content. */
export function addMediaUrl(measure: Measure, kind: MediaKind, url: unknown): void {
  const head = typeof url === 'string' ? DATA_URL.exec(url) : null
  addMedia(measure, kind, head && typeof url === 'string' ? url.slice(head[0].length) : undefined)
}

/** Reads the `cache_control` of a block, a message, a tool or a whole request. */
export function readCacheControl(
  measure: Measure,
  holder: Readonly<Record<string, unknown>>,
  at: () => string,
): void {
  const control = holder.cache_control
  if (control === undefined || control === null) return
  measure.hasCache = true
  if (!isObject(control)) return
  noteTtl(measure, control.ttl, () => `${at()}cache_control.ttl`)
}

/** Cache lifetimes without a price of their own. */
const SHORT_TTLS: ReadonlySet<unknown> = new Set([undefined, null, '5m', '30m'])

export function noteTtl(measure: Measure, ttl: unknown, field: () => string): void {
  if (measure.longCache || SHORT_TTLS.has(ttl)) return
  measure.longCache = { field: field(), ttl: typeof ttl === 'string' ? ttl : JSON.stringify(ttl) }
}
