/**
 * Prepares a speech request for the vendor, and counts the characters that will be billed. Bytes
 * that need no change pass as the caller sent them.
 */
import { asString, isObject, type JsonObject, member } from '../../lib/json.ts'
import { countCodePoints } from '../../lib/text/count-code-points.ts'
import { findDuplicate, foldKey, type JsonFields, scanMembers } from '../json-scan.ts'
import { spliceJson } from '../splice.ts'

const OPEN_OBJECT = 0x7b

/**
 * Returns the body for the vendor, which requires `additions` as a string with JSON
 * (docs/protocols/volcengine-speech.md#synthesis-request): an object is written as one, spelled
 * as the caller spelled it. If a name appears twice inside `req_params`,
 * the object is written anew from `value`, so that the vendor speaks the priced text.
 */
export function prepareSpeechRequest(body: Buffer, fields: JsonFields, value: JsonObject): Buffer {
  const parameters = fields.get('req_params')
  if (parameters === undefined || body[parameters.valueStart] !== OPEN_OBJECT) return body
  const members = scanMembers(body, parameters.valueStart)
  if (findDuplicate(members) !== undefined) {
    return spliceJson(body, fields, { set: { req_params: printParameters(value.req_params) } })
  }
  const additions = members.find(({ key }) => key === 'additions')
  if (additions === undefined || body[additions.valueStart] !== OPEN_OBJECT) return body
  const text = body.toString('utf8', additions.valueStart, additions.valueEnd)
  const inner = { additions: JSON.stringify(text) }
  return spliceJson(body, fields, { setInside: { req_params: inner } })
}

/** Writes one member for each name; among spellings that differ in case, lower case wins. */
function printParameters(parameters: unknown): string {
  if (!isObject(parameters)) return JSON.stringify(parameters)
  const members = new Map<string, [string, unknown]>()
  for (const [key, value] of Object.entries(parameters)) {
    const folded = foldKey(key)
    if (members.has(folded) && key !== folded) continue
    const isAdditions = key === 'additions' && isObject(value)
    members.set(folded, [key, isAdditions ? JSON.stringify(value) : value])
  }
  return JSON.stringify(Object.fromEntries(members.values()))
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
