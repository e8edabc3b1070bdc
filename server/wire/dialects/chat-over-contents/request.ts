/**
 * Translates a chat request to the contents format. The new request is built from known fields and
 * never copied, so that a field that a caller adds does not reach the vendor.
 */
import { isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { stringifyWellFormed } from '../../../base/lib/text/well-formed.ts'
import { translateChatMessages } from '../chat-over-messages/translate-conversation.ts'
import { type Generation, SIGNING, STRICT } from '../contents/generation.ts'
import { InvalidRequest } from '../invalid-request.ts'
import { partsOf, writeContents } from './conversation.ts'
import { translateParameters } from './translate-parameters.ts'
import { OF_CONTENTS } from './translate-part.ts'
import { translateTools } from './translate-tools.ts'

export interface ContentsRequestOptions {
  readonly generation: Generation
  readonly stream: boolean
  /** True if the model has a price for the vendor's searches. */
  readonly sellsSearch: boolean
  /** True if calls may have ids, and the tier is a member of the body. */
  readonly hasIds: boolean
  /** True if the vendor refused a signature: its stand-in takes the place of all. */
  readonly replacesSignatures: boolean
}

export interface ContentsRequest {
  readonly body: Buffer
  /** The vendor's name of the tier, if the request names one. */
  readonly tier: string | undefined
  /** True if the vendor may search. */
  readonly searches: boolean
  /** Members of the chat request that are not sent to the vendor. */
  readonly ignored: readonly string[]
}

const GO_ON = 'Go on with your last answer exactly where it stops, without repeating any of it.'

/** Throws `InvalidRequest` for anything that the format or the model does not support. */
export function translateToContents(
  request: JsonObject,
  options: ContentsRequestOptions,
): ContentsRequest {
  const { generation, stream, hasIds } = options
  const isSigning = generation.number >= SIGNING
  const { system, messages: turns } = translateChatMessages(request.messages, OF_CONTENTS)
  if (turns.length === 0) throw new InvalidRequest('messages', 'must say something')
  const contents = writeContents(turns, {
    signatures: !isSigning ? 'none' : options.replacesSignatures ? 'replaced' : 'kept',
    hasIds,
    mediaInResults: isSigning,
  })
  const isBegun = generation.number >= STRICT && contents.at(-1)?.role === 'model'
  if (isBegun) contents.push({ role: 'user', parts: [{ text: GO_ON }] })
  const tools = translateTools(request, options.sellsSearch)
  const parameters = translateParameters(request, generation, stream)
  const format = translateFormat(request.response_format, isSigning || !tools.hasFunctions)
  const instruction = [...partsOf(system), ...format.instruction]
  const { tier } = parameters
  const body = {
    contents,
    ...(instruction.length > 0 ? { systemInstruction: { parts: instruction } } : {}),
    ...tools.members,
    generationConfig: { ...parameters.generationConfig, ...format.config },
    ...(tier !== undefined && hasIds ? { serviceTier: tier } : {}),
  }
  return {
    body: Buffer.from(stringifyWellFormed(body)),
    tier,
    searches: tools.searches,
    ignored: [...parameters.ignored, ...tools.ignored, ...(isBegun ? ['prefill'] : [])],
  }
}

interface Format {
  readonly config: JsonObject
  readonly instruction: readonly JsonObject[]
}

const NOTHING: Format = { config: {}, instruction: [] }

/**
 * Older models do not accept an answer format together with tools, so it is described in the
 * prompt.
 */
function translateFormat(format: unknown, isTaken: boolean): Format {
  const type = member(format, 'type')
  if (!isObject(format) || type === 'text') return NOTHING
  const schema = member(member(format, 'json_schema'), 'schema')
  if (type !== 'json_object' && type !== 'json_schema') {
    throw new InvalidRequest('response_format.type', 'must be text, json_object or json_schema')
  }
  if (type === 'json_schema' && !isObject(schema)) {
    throw new InvalidRequest('response_format.json_schema.schema', 'is required')
  }
  const members = type === 'json_schema' ? { responseJsonSchema: schema } : {}
  if (isTaken)
    return { config: { responseMimeType: 'application/json', ...members }, instruction: [] }
  const text = 'Answer with one JSON value and no other text.'
  const described = isObject(schema)
    ? ` It follows this JSON schema:\n${JSON.stringify(schema)}`
    : ''
  return { config: {}, instruction: [{ text: text + described }] }
}
