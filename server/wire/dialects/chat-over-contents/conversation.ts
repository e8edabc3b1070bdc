/**
 * Writes turns as `contents`: calls with their signatures, and the results of one step in a
 * separate content, in the order of the calls (docs/protocols/google.md#request).
 */

import { createInnerReader, type ReadInner } from '../../../base/lib/inner-json.ts'
import { asString, isObject, type JsonObject } from '../../../base/lib/json.ts'
import type { MessagesBlock } from '../chat-over-messages/translate-part.ts'
import type { MessagesTurn } from '../chat-over-messages/turns.ts'
import { STAND_IN } from '../contents/signature.ts'

export interface ContentsForm {
  /**
   * `kept`: signatures are sent as they came. `replaced`: the vendor refused one, so all are
   * replaced by its stand-in. `none`: the model has none.
   */
  readonly signatures: 'kept' | 'replaced' | 'none'
  /** True if calls have ids. */
  readonly hasIds: boolean
  /** True if tool results may contain media. */
  readonly mediaInResults: boolean
}

interface ResultsForm extends ContentsForm {
  readonly readInner: ReadInner
}

interface Content {
  readonly role: 'user' | 'model'
  readonly parts: JsonObject[]
}

interface KnownCall {
  readonly name: string
  readonly position: number
}

export function writeContents(turns: readonly MessagesTurn[], form: ContentsForm): Content[] {
  const calls = new Map<unknown, KnownCall>()
  const own = { ...form, readInner: createInnerReader() }
  return turns.flatMap(({ role, content }) => {
    if (role === 'user') return writeUser(content, calls, own)
    const parts = writeModel(content, calls, form)
    return parts.length > 0 ? [{ role: 'model' as const, parts }] : []
  })
}

/** Returns the parts of a system instruction or of a user turn. */
export function partsOf(blocks: readonly MessagesBlock[]): JsonObject[] {
  return blocks.flatMap(({ type, part, text }) => {
    if (type === 'part' && isObject(part)) return [part]
    return asString(text) ? [{ text }] : []
  })
}

function writeModel(
  blocks: readonly MessagesBlock[],
  calls: Map<unknown, KnownCall>,
  form: ContentsForm,
): JsonObject[] {
  const parts: JsonObject[] = []
  let mark: unknown
  let isFirst = true
  for (const block of blocks) {
    if (block.type === 'mark') mark = block.signature
    else if (block.type === 'tool_use') {
      calls.set(block.id, { name: asString(block.name) ?? '', position: calls.size })
      parts.push(writeCall(block, isFirst, form))
      isFirst = false
    } else {
      for (const part of partsOf([block])) {
        parts.push(sign(part, mark, form))
        mark = undefined
      }
    }
  }
  if (mark !== undefined && form.signatures === 'kept') parts.push(sign({ text: '' }, mark, form))
  return parts
}

function sign(part: JsonObject, mark: unknown, { signatures }: ContentsForm): JsonObject {
  const { thoughtSignature = mark, ...rest } = part
  return signatures === 'kept' && thoughtSignature ? { ...rest, thoughtSignature } : rest
}

/** The vendor refuses a step whose first call has no signature. */
function writeCall(block: MessagesBlock, isFirst: boolean, form: ContentsForm): JsonObject {
  const { id, name, input, signature } = block
  const own = form.signatures === 'kept' ? signature : undefined
  const thoughtSignature = own ?? (isFirst && form.signatures !== 'none' ? STAND_IN : undefined)
  return {
    functionCall: { ...(form.hasIds ? { id } : {}), name, args: input },
    ...(thoughtSignature ? { thoughtSignature } : {}),
  }
}

function writeUser(
  blocks: readonly MessagesBlock[],
  calls: ReadonlyMap<unknown, KnownCall>,
  form: ResultsForm,
): Content[] {
  const results = blocks.filter(({ type }) => type === 'tool_result')
  results.sort((left, right) => positionOf(left, calls) - positionOf(right, calls))
  const written = results.map((block) => writeResult(block, calls, form))
  const others = [
    ...written.flatMap(({ media }) => media),
    ...partsOf(blocks.filter(({ type }) => type !== 'tool_result')),
  ]
  return [
    ...(written.length > 0
      ? [{ role: 'user' as const, parts: written.map(({ part }) => part) }]
      : []),
    ...(others.length > 0 ? [{ role: 'user' as const, parts: others }] : []),
  ]
}

function positionOf(block: MessagesBlock, calls: ReadonlyMap<unknown, KnownCall>): number {
  return calls.get(block.tool_use_id)?.position ?? 0
}

function writeResult(
  block: MessagesBlock,
  calls: ReadonlyMap<unknown, KnownCall>,
  { hasIds, mediaInResults, readInner }: ResultsForm,
): { readonly part: JsonObject; readonly media: readonly JsonObject[] } {
  const { content, tool_use_id: id } = block
  const parts = typeof content === 'string' ? [{ text: content }] : partsOf(toBlocks(content))
  const media = parts.filter((part) => part.text === undefined)
  const text = parts.flatMap((part) => asString(part.text) ?? []).join('\n')
  const part = {
    functionResponse: {
      ...(hasIds ? { id } : {}),
      name: calls.get(id)?.name ?? '',
      response: block.is_error === true ? { error: text } : readResponse(text, readInner),
      ...(mediaInResults && media.length > 0 ? { parts: media } : {}),
    },
  }
  return { part, media: mediaInResults ? [] : media }
}

function toBlocks(content: unknown): readonly MessagesBlock[] {
  return Array.isArray(content) ? content : []
}

/** A result must be an object, so a text is wrapped in one. */
function readResponse(text: string, readInner: ReadInner): JsonObject {
  const parsed = text.trimStart().startsWith('{') ? readInner(text) : undefined
  return isObject(parsed) ? parsed : { output: text }
}
