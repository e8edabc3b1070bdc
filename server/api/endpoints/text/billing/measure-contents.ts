/**
 * Measures a request of the contents format: parts are text or media. Its names may be written in
 * camel case or with underscores, as the vendor reads both.
 */
import { invalidField } from '../../../../base/lib/errors.ts'
import { asString, isObject, type JsonObject, member } from '../../../../base/lib/json.ts'
import {
  ADDRESS_ADVICE,
  isOpenAddress,
  isVideoSite,
} from '../../../../wire/dialects/contents/file-address.ts'
import { addElsewhere, addMedia, createMeasure, type Measure, type MediaKind } from './measure.ts'

/** Returns the members under their names in camel case. Throws for one that appears twice. */
export function inCamelCase(holder: unknown, at: string): JsonObject {
  if (!isObject(holder)) return {}
  const members = new Map<string, unknown>()
  for (const [name, value] of Object.entries(holder)) {
    const own = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    if (members.has(own)) throw invalidField(at === '' ? own : `${at}.${own}`, 'appears twice')
    members.set(own, value)
  }
  return Object.fromEntries(members)
}

export function measureContents(value: JsonObject): Measure {
  const measure = createMeasure()
  const { contents, systemInstruction, content, requests } = inCamelCase(value, '')
  for (const one of toList(requests)) readContents(measure, inCamelCase(one, '').content)
  for (const one of [contents, systemInstruction, content]) readContents(measure, one)
  return measure
}

/** Returns the texts that are embedded, without what surrounds them. */
export function listEmbedded(value: JsonObject): string[] {
  const embedded = [...toList(value.requests).map((one) => member(one, 'content')), value.content]
  const parts = embedded.flatMap((content) => toList(member(content, 'parts')))
  return parts.flatMap((part) => asString(member(part, 'text')) || [])
}

/** Returns the items of a list; a single item counts as a list of one. */
export function toList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return value === undefined || value === null ? [] : [value]
}

function readContents(measure: Measure, contents: unknown): void {
  for (const content of toList(contents)) {
    if (isObject(content)) readParts(measure, content.parts)
  }
}

function readParts(measure: Measure, parts: unknown): void {
  for (const one of toList(parts)) {
    const part = inCamelCase(one, 'parts')
    if (part.inlineData !== undefined) readInline(measure, inCamelCase(part.inlineData, 'parts'))
    if (part.fileData !== undefined) readFile(measure, inCamelCase(part.fileData, 'parts'))
    const { functionResponse: result } = part
    if (isObject(result) && result.parts !== undefined) readParts(measure, result.parts)
    if (part.toolCall !== undefined || part.toolResponse !== undefined) addElsewhere(measure)
  }
}

function kindOf(mimeType: unknown): MediaKind {
  const [type] = (asString(mimeType) ?? '').toLowerCase().split('/')
  return type === 'image' || type === 'audio' || type === 'video' ? type : 'document'
}

function readInline(measure: Measure, { mimeType, data }: JsonObject): void {
  const kind = kindOf(mimeType)
  measure.mayBeAudio ||= kind === 'video'
  if (kind === 'audio') measure.audioAt ??= 'contents'
  addMedia(measure, kind, data)
}

/** Throws for a file that the channel's account has stored. */
function readFile(measure: Measure, { fileUri, mimeType }: JsonObject): void {
  const field = 'contents.parts.fileData.fileUri'
  const address = asString(fileUri) ?? ''
  if (!isOpenAddress(address)) throw invalidField(field, ADDRESS_ADVICE)
  measure.mayBeAudio = true
  addMedia(measure, isVideoSite(address) ? 'video' : kindOf(mimeType), undefined)
}
