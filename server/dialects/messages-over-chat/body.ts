/** Translates a whole chat completion to a message. */
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { expectWhole } from '../chat/expect-body.ts'
import { readChatBody } from '../chat/read-body.ts'
import { readChatChunk } from '../chat/read-chunk.ts'
import { readStatedReasoning } from '../chat/split-tokens.ts'
import { createToolCallTracker, type ToolCallPiece } from '../chat/tool-calls.ts'
import { unfoldCompletion } from '../chat/unfold-body.ts'
import { buildMessagesError } from '../messages/error.ts'
import type { Relay } from '../relay.ts'
import type { BodyReading } from '../tap.ts'
import { createBodyTranslator } from '../translate-body.ts'
import { buildMessageUsage, type MessageAnswerOptions, mintToolId, toStopFields } from './answer.ts'
import { toCitation } from './citation.ts'
import { createPrefillCutter } from './prefill.ts'

/** Collects the upstream's document and returns the message at its end. */
export function createMessagesBody(options: MessageAnswerOptions): Relay {
  const translator = createBodyTranslator({
    read: readChatBody,
    translate: (document, reading) => translateCompletion(document, options, reading),
    toError: buildMessagesError,
  })
  return expectWhole(translator)
}

function translateCompletion(
  document: JsonObject,
  options: MessageAnswerOptions,
  reading: BodyReading,
): JsonObject {
  const { id, model, context, inputTokensEstimate } = options
  const answer = readChatChunk(unfoldCompletion(document), createToolCallTracker())
  const { reasoning, text, refusal, tools, reason, stopSequence } = answer
  const citations = answer.annotations.map(toCitation).filter((one) => one !== undefined)
  const content: JsonObject[] = []
  if (reasoning !== '' && context.showsThinking) {
    content.push({ type: 'thinking', thinking: reasoning, signature: '' })
  }
  const own = cutPrefill(text, context.prefill)
  const cited = citations.length > 0 ? { citations } : {}
  if (own !== '') content.push({ type: 'text', text: own, ...cited })
  if (refusal !== '') content.push({ type: 'text', text: refusal })
  for (const piece of tools) content.push(buildToolUse(piece, options))
  const ending = { reason, stopSequence, hasTools: tools.length > 0, hasRefusal: refusal !== '' }
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content,
    ...toStopFields(ending),
    usage: buildMessageUsage(
      reading,
      inputTokensEstimate,
      reading.outputBytes,
      readStatedReasoning(document.usage),
    ),
  }
}

function cutPrefill(text: string, prefill: string): string {
  const cutter = createPrefillCutter(prefill)
  return cutter.push(text) + cutter.end()
}

function buildToolUse(
  { call, arguments: text }: ToolCallPiece,
  options: MessageAnswerOptions,
): JsonObject {
  return {
    type: 'tool_use',
    id: call.id || mintToolId(options.id, call.position),
    name: call.name === '' ? 'unknown' : options.context.toolNames.fromChat(call.name),
    input: parseInput(text),
  }
}

/** Wraps arguments that are no JSON object in one: the answer is billed, so nothing is dropped. */
function parseInput(text: string): JsonObject {
  if (text.trim() === '') return {}
  const input = tryParseJson(Buffer.from(text))
  return isObject(input) ? input : { raw_arguments: text }
}
