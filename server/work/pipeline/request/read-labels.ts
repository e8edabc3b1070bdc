/**
 * The labels of a call: the tags of its key, those that its caller adds, and the end user whom the
 * caller names.
 */
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { type CallLabels, problemOfTags, statesTag } from '../../../base/lib/call-labels.ts'
import { GatewayError, invalidField } from '../../../base/lib/errors.ts'
import { isObject } from '../../../base/lib/json.ts'
import { pseudonym } from '../../../base/lib/text/pseudonym.ts'
import type { Caller, KeyTags } from '../../../money/accounts/accounts.ts'
import { cutJson } from '../../../wire/dialects/cut-json.ts'
import type { Body } from '../metering.ts'
import { parseObject, type RequestJson } from './read-request.ts'

const HEADER = 'x-tags'
const IN_BODY = ['metadata', 'tags'] as const
const NAME = IN_BODY.join('.')
/** Longer names of end users are kept as a hash. */
const END_USER_MAX = 256
const HASH_LENGTH = 43

interface LabelledRequest {
  /** Absent for a call without any. */
  readonly labels?: CallLabels
  /** The request without the tags that were read, which vendors refuse. */
  readonly request: RequestJson
}

/** Throws 400 for tags that are malformed, not allowed, or required and absent. */
export function readLabels(
  request: RequestJson,
  { tagging, endUser: proven }: Pick<Caller, 'tagging' | 'endUser'>,
  headers: IncomingHttpHeaders,
): LabelledRequest {
  const endUser = readEndUser(proven, request.value)
  const inHeader = headers[HEADER]
  if (!tagging && inHeader === undefined) {
    return endUser === undefined ? { request } : { labels: { end_user: endUser }, request }
  }
  const takesTags = tagging !== undefined && (tagging.allowTags || tagging.requiredTags.length > 0)
  const added = [...readHeader(inHeader, takesTags), ...(takesTags ? readBody(request.value) : [])]
  const tags = tagging ? addTags(tagging, added) : []
  const labels = {
    ...(tags.length > 0 ? { tags } : {}),
    ...(endUser === undefined ? {} : { end_user: endUser }),
  }
  return {
    ...(Object.keys(labels).length > 0 ? { labels } : {}),
    request: takesTags ? withoutTags(request) : request,
  }
}

/** An end user from a token takes precedence over one that the caller names. */
function readEndUser(proven: string | undefined, value: Body): string | undefined {
  const { user, metadata, safety_identifier: safety } = value
  const inMetadata = isObject(metadata) ? metadata.user_id : undefined
  for (const name of [proven, user, inMetadata, safety]) {
    if (typeof name !== 'string' || name === '') continue
    return name.length > END_USER_MAX ? `hash:${pseudonym(name, HASH_LENGTH)}` : name
  }
  return undefined
}

/** Node reads the bytes of headers as Latin-1. */
function readHeader(value: string | string[] | undefined, takesTags: boolean): string[] {
  if (value === undefined) return []
  if (!takesTags) throw refused('X-Tags', 'this key takes no tags: its owner can allow them')
  const bytes = Buffer.from(String(value), 'latin1')
  if (!isUtf8(bytes)) throw refused('X-Tags', 'must be in UTF-8')
  return splitTags(bytes.toString(), 'X-Tags')
}

/** Tags are a list, or a comma-separated string if metadata may only contain strings. */
function readBody({ metadata }: Body): string[] {
  const tags = isObject(metadata) ? metadata.tags : undefined
  if (tags === undefined || tags === null) return []
  if (typeof tags === 'string') return splitTags(tags, NAME)
  const isList = Array.isArray(tags) && tags.every((tag) => typeof tag === 'string')
  if (!isList) throw refused(NAME, 'must be a list of tags, or a text with commas between them')
  return checked(tags, NAME)
}

function splitTags(text: string, where: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim())
  return checked(
    tags.filter((tag) => tag !== ''),
    where,
  )
}

function checked(tags: string[], where: string): string[] {
  const problem = problemOfTags(tags)
  if (problem) throw refused(where, problem)
  return tags
}

function refused(where: string, problem: string): GatewayError {
  if (where === NAME) return invalidField(NAME, problem)
  return new GatewayError('invalid_request', { message: `${where}: ${problem}` })
}

/** A tag `team:blue` states the required `team` as well, so that the call is counted under it. */
function addTags({ tags, allowTags, requiredTags }: KeyTags, added: string[]): string[] {
  const all = new Set([...tags, ...added])
  const problem = problemOfTags([...new Set(added)])
  if (problem) throw refused('X-Tags', problem)
  for (const required of requiredTags) {
    if (![...all].some((tag) => statesTag(tag, required))) {
      const forms = `"${required}" or "${required}:…"`
      const message = `this key requires a tag, ${forms}, in X-Tags or ${NAME}`
      throw new GatewayError('invalid_request', { message, code: 'tag_required' })
    }
    all.add(required)
  }
  if (!allowTags) {
    const other = added.find((tag) => !requiredTags.some((one) => statesTag(tag, one)))
    if (other !== undefined && !tags.includes(other)) {
      const where = `X-Tags or ${NAME}`
      throw refused(where, `this key takes only the tags that it requires, not "${other}"`)
    }
  }
  return [...all]
}

function withoutTags(request: RequestJson): RequestJson {
  const { metadata } = request.value
  if (!isObject(metadata) || !Object.hasOwn(metadata, 'tags')) return request
  // A form has no body of JSON: its fields are sent one by one.
  if (request.fields.size === 0) return request
  return parseObject(cutJson(request.body, [IN_BODY]))
}
