/**
 * What a walk over a text request finds that its bytes alone do not say: media, whose bytes are
 * no text, things of which only a name was sent, and caches that were asked for. Media count only
 * where the dialect has them; everything else in a body is text.
 */
import { isObject } from '../../../lib/json.ts'

/** What an image is counted as, whatever its size; most cost less. */
const IMAGE_TOKENS = 1_600
/** Of base64, so that a second of common audio comes to 35 tokens. */
const AUDIO_BYTES_PER_TOKEN = 600
/** Of base64: text and an image of each page of a common document. */
const DOCUMENT_BYTES_PER_TOKEN = 40

export interface Measure {
  /** Bytes of base64 that are a picture, a recording or a document. */
  mediaBytes: number
  mediaTokens: number
  /** Of recordings, which have prices of their own. */
  audioTokens: number
  /** True when a part of the input is not in the body, or is more than its bytes say. */
  isOpen: boolean
  /** Where audio is asked to be heard. */
  audioAt: string | undefined
  /** True when a cache is asked for by name. */
  hasCache: boolean
  /** Where a cache is asked to be kept for longer than its default, and for how long. */
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

/** A medium that came as base64, or whose content somebody else has. */
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

/** A medium at an address: of a data URL the part behind the comma is its content. */
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

/** Lifetimes that cost what every write costs. */
const SHORT_TTLS: ReadonlySet<unknown> = new Set([undefined, null, '5m', '30m'])

export function noteTtl(measure: Measure, ttl: unknown, field: () => string): void {
  if (measure.longCache || SHORT_TTLS.has(ttl)) return
  measure.longCache = { field: field(), ttl: typeof ttl === 'string' ? ttl : JSON.stringify(ttl) }
}
