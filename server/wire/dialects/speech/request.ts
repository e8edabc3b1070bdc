/**
 * Prepares a speech request for the vendor, and counts the characters that will be billed. Bytes
 * that need no change pass as the caller sent them.
 */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { countCodePoints } from '../../../base/lib/text/count-code-points.ts'
import {
  findDuplicate,
  foldKey,
  type JsonFields,
  type JsonMember,
  scanMembers,
} from '../json-scan.ts'
import { spliceJson } from '../splice.ts'

const OPEN_OBJECT = 0x7b

/**
 * Returns the body for the vendor (docs/protocols/volcengine-speech.md#synthesis-request). The
 * vendor requires `additions` as a string with JSON: an object is written as one, spelled as the
 * caller spelled it. It requires `audio_params` inside `req_params`: where that has none, those
 * beside it move there, or an empty object stands for the vendor's own values. If a name appears
 * twice inside `req_params`, the object is written anew from `value`, so that the vendor speaks
 * the priced text.
 */
export function prepareSpeechRequest(body: Buffer, fields: JsonFields, value: JsonObject): Buffer {
  const parameters = fields.get('req_params')
  if (parameters === undefined || body[parameters.valueStart] !== OPEN_OBJECT) return body
  const members = scanMembers(body, parameters.valueStart)
  const audio = findAudio(body, fields, members)
  const remove = audio.isMoved ? ['audio_params'] : []
  if (findDuplicate(members) !== undefined) {
    const printed = printParameters(value.req_params, audio.text)
    return spliceJson(body, fields, { set: { req_params: printed }, remove })
  }
  const inner: Record<string, string> = {}
  const additions = members.find(({ key }) => key === 'additions')
  if (isObjectAt(body, additions)) inner.additions = JSON.stringify(textOf(body, additions))
  if (audio.text !== undefined) inner.audio_params = audio.text
  return spliceJson(body, fields, { setInside: { req_params: inner }, remove })
}

interface AudioParameters {
  /** JSON of what `req_params` lacks, undefined where it has its own. */
  readonly text?: string
  /** They stand beside `req_params`, where the vendor does not read them. */
  readonly isMoved: boolean
}

function findAudio(
  body: Buffer,
  fields: JsonFields,
  members: readonly JsonMember[],
): AudioParameters {
  const own = members.filter(({ key }) => foldKey(key) === 'audio_params')
  if (own.some((member) => textOf(body, member) !== 'null')) return { isMoved: false }
  const beside = fields.get('audio_params')
  if (!isObjectAt(body, beside)) return { text: '{}', isMoved: false }
  return { text: textOf(body, beside), isMoved: true }
}

function isObjectAt(body: Buffer, member: JsonMember | undefined): member is JsonMember {
  return member !== undefined && body[member.valueStart] === OPEN_OBJECT
}

function textOf(body: Buffer, { valueStart, valueEnd }: JsonMember): string {
  return body.toString('utf8', valueStart, valueEnd)
}

/** Writes one member for each name; among spellings that differ in case, lower case wins. */
function printParameters(parameters: unknown, audio: string | undefined): string {
  if (!isObject(parameters)) return JSON.stringify(parameters)
  const members = new Map<string, [string, string]>()
  for (const [key, value] of Object.entries(parameters)) {
    const folded = foldKey(key)
    if (members.has(folded) && key !== folded) continue
    const text = JSON.stringify(value)
    const isAdditions = key === 'additions' && isObject(value)
    members.set(folded, [key, isAdditions ? JSON.stringify(text) : text])
  }
  if (audio !== undefined) members.set('audio_params', ['audio_params', audio])
  const printed = Array.from(members.values(), ([key, text]) => `${JSON.stringify(key)}:${text}`)
  return `{${printed.join(',')}}`
}

/**
 * Counts the characters that the vendor bills, for streams that state no usage: the code points of
 * `req_params.text`, or of `ssml` without its tags, which wins where both are present.
 * `context_texts` are not billed. 0 for a request without text.
 */
export function countBilledCharacters({ req_params: parameters }: JsonObject): number {
  return asString(member(parameters, 'ssml')) ? countSsml(parameters) : countText(parameters)
}

/**
 * Counts the characters of a hold: those of `text` and `ssml` together, because a vendor without
 * SSML speaks the text. Tags count too, since some are spoken, such as `<sub alias="…">`.
 */
export function countHeldCharacters({ req_params: parameters }: JsonObject): number {
  return countCodePoints(asString(member(parameters, 'ssml')) ?? '') + countText(parameters)
}

function countSsml(parameters: unknown): number {
  return countCodePoints(stripTags(asString(member(parameters, 'ssml')) ?? ''))
}

function countText(parameters: unknown): number {
  return countCodePoints(asString(member(parameters, 'text')) ?? '')
}

const CDATA = '<![CDATA['
const CDATA_END = ']]>'

/** Removes tags in linear time; a tag that is never closed is text, and so is character data. */
function stripTags(ssml: string): string {
  let text = ''
  let position = 0
  for (;;) {
    const open = ssml.indexOf('<', position)
    const isData = open !== -1 && ssml.startsWith(CDATA, open)
    const end = isData ? CDATA_END : '>'
    const close = open === -1 ? -1 : ssml.indexOf(end, open)
    if (close === -1) return text + ssml.slice(position)
    text += ssml.slice(position, open)
    if (isData) text += ssml.slice(open + CDATA.length, close)
    position = close + end.length
  }
}
