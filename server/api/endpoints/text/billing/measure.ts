/**
 * Measures what the size of a text request does not show: media, whose bytes are not text,
 * references to content outside the body, and requested caches. Media count only where the dialect
 * allows them; everything else in a body counts as text.
 */

import { invalidField } from '../../../../base/lib/errors.ts'
import { isAbsent, isObject, type JsonObject } from '../../../../base/lib/json.ts'
import { foldKey } from '../../../../wire/dialects/json-scan.ts'
import { isLongLifetime } from '../../../../wire/dialects/usage/write-lifetime.ts'

/** Tokens per image, regardless of its size; most cost less. */
const IMAGE_TOKENS = 1_600
/** Bytes of base64: a second of common audio counts as 35 tokens. */
const AUDIO_BYTES_PER_TOKEN = 600
/** Base64 bytes per token: a document costs its text plus one image per page. */
const DOCUMENT_BYTES_PER_TOKEN = 40

export interface Measure {
  /** Bytes of base64 that are an image, a recording or a document. */
  mediaBytes: number
  mediaTokens: number
  /** Tokens of recordings, which have their own prices. */
  audioTokens: number
  /** True if some of `mediaTokens` may be sound, which has its own price. */
  mayBeAudio: boolean
  /** True if the body does not bound the input: a part is elsewhere, or larger than its bytes. */
  isOpen: boolean
  /**
   * Tokens that such parts may add to the estimate in one pass; Infinity: as many as the model
   * takes.
   */
  elsewhereTokens: number
  /** The field of the first audio input, if any. */
  audioAt: string | undefined
  /** True if the request names a cache. */
  hasCache: boolean
  /** The first field that requests a cache lifetime beyond the default, and the lifetime. */
  longCache: { readonly field: string; readonly ttl: string } | undefined
  /** The first known member in another letter case, and what it is a member of. */
  misspelt: { readonly holder: JsonObject; readonly name: string } | undefined
}

export function createMeasure(): Measure {
  return {
    mediaBytes: 0,
    mediaTokens: 0,
    audioTokens: 0,
    mayBeAudio: false,
    isOpen: false,
    elsewhereTokens: 0,
    audioAt: undefined,
    hasCache: false,
    longCache: undefined,
    misspelt: undefined,
  }
}

export type MediaKind = 'image' | 'audio' | 'video' | 'document'

/** Tokens of the largest image that any vendor takes. */
const IMAGE_TOKENS_MAX = 36_000
/** Speech in its most compact form. */
const AUDIO_BYTES_PER_TOKEN_MIN = 20

/** Marks the input as unbounded because of content outside the body, unless `tokens` bounds it. */
export function addElsewhere(measure: Measure, tokens = Number.POSITIVE_INFINITY): void {
  measure.isOpen = true
  measure.elsewhereTokens += tokens
}

/** Adds media in base64, or outside the body if `base64` is not a string. */
export function addMedia(measure: Measure, kind: MediaKind, base64: unknown): void {
  addElsewhere(measure, mostOf(kind, base64))
  const bytes = typeof base64 === 'string' ? base64.length : 0
  measure.mediaBytes += bytes
  if (kind === 'audio') measure.audioTokens += tokensOf(kind, bytes)
  else measure.mediaTokens += tokensOf(kind, bytes)
}

/** A document may be compressed, so its size says nothing about its tokens. */
function mostOf(kind: MediaKind, base64: unknown): number | undefined {
  if (kind === 'image') return IMAGE_TOKENS_MAX
  const isMeasured = kind === 'audio' && typeof base64 === 'string'
  return isMeasured ? Math.ceil(base64.length / AUDIO_BYTES_PER_TOKEN_MIN) : undefined
}

function tokensOf(kind: MediaKind, bytes: number): number {
  if (kind === 'image') return IMAGE_TOKENS
  const each = kind === 'audio' ? AUDIO_BYTES_PER_TOKEN : DOCUMENT_BYTES_PER_TOKEN
  return Math.max(IMAGE_TOKENS, Math.ceil(bytes / each))
}

const DATA_URL = /^data:[^,]{0,200};base64,/i

/** Documents without sound. */
const SILENT = /^data:(?:application\/pdf|text\/|image\/)/i

/** Adds media by URL: a data URL contains its content. */
export function addMediaUrl(measure: Measure, kind: MediaKind, url: unknown): void {
  const head = typeof url === 'string' ? DATA_URL.exec(url) : null
  measure.mayBeAudio ||= kind === 'video' || (kind === 'document' && !SILENT.test(head?.[0] ?? ''))
  addMedia(measure, kind, head && typeof url === 'string' ? url.slice(head[0].length) : undefined)
}

/**
 * Marks the input as unbounded because of a member whose content may not be in the body: a vendor
 * may read anything through it. Notes a known name in another letter case, which some vendors read
 * as that name.
 */
export function readOthers(measure: Measure, holder: JsonObject, known: ReadonlySet<string>): void {
  for (const name in holder) {
    const value = holder[name]
    if (known.has(name) || isAbsent(value)) continue
    if (known.has(foldKey(name))) measure.misspelt ??= { holder, name }
    addElsewhere(measure, isPlainValue(value) ? 0 : undefined)
  }
}

/** Throws a 400 that names the first member in another letter case. */
export function refuseMisspeltInside({ misspelt }: Measure, body: JsonObject): void {
  if (!misspelt) return
  const { holder, name } = misspelt
  const place = [...(findPath(body, holder) ?? []), name].reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[${step}]`
    return path === '' ? step : `${path}.${step}`
  }, '')
  throw invalidField(place, `the name of this field is '${foldKey(name)}'`)
}

/** Returns the keys and indexes that lead to `target`; the body's depth limits recursion. */
function findPath(value: unknown, target: unknown): (string | number)[] | undefined {
  if (value === target) return []
  if (typeof value !== 'object' || value === null) return undefined
  const isArray = Array.isArray(value)
  for (const [key, inner] of Object.entries(value)) {
    const path = findPath(inner, target)
    if (path) return [isArray ? Number(key) : key, ...path]
  }
  return undefined
}

/** True for a value that names nothing: vendors refer to content by texts. */
export function isPlainValue(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'boolean'
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

function noteTtl(measure: Measure, ttl: unknown, field: () => string): void {
  if (measure.longCache || !isLongLifetime(ttl)) return
  measure.longCache = { field: field(), ttl: typeof ttl === 'string' ? ttl : JSON.stringify(ttl) }
}

/** Reads the cache control of tools; their definitions count as text. */
export function measureTools(measure: Measure, tools: unknown): void {
  if (!Array.isArray(tools)) return
  for (let index = 0; index < tools.length; index += 1) {
    const tool: unknown = tools[index]
    if (!isObject(tool)) continue
    readCacheControl(measure, tool, () => `tools[${index}].`)
    const definition = tool.function
    if (isObject(definition))
      readCacheControl(measure, definition, () => `tools[${index}].function.`)
  }
}

/** Reads what chats and responses have beside their turns: tools, and how long caches live. */
export function readToolsAndCaches(measure: Measure, value: JsonObject): void {
  measureTools(measure, value.tools)
  readCacheControl(measure, value, () => '')
  const options = value.prompt_cache_options
  if (isObject(options)) noteTtl(measure, options.ttl, () => 'prompt_cache_options.ttl')
}

/** Reads each part of a list, which `at` names. */
export function readParts(
  measure: Measure,
  parts: unknown,
  at: () => string,
  readPart: (measure: Measure, part: unknown, at: () => string) => void,
): void {
  // No dialect has a form for a single part outside a list.
  if (isObject(parts)) addElsewhere(measure)
  if (!Array.isArray(parts)) return
  for (let index = 0; index < parts.length; index += 1) {
    readPart(measure, parts[index], () => `${at()}[${index}].`)
  }
}
