/** A whole chat completion as a message. */
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { expectWhole } from '../chat/expect-body.ts'
import { readChatBody } from '../chat/read-body.ts'
import { readChatChunk } from '../chat/read-chunk.ts'
import { createToolCallTracker, type ToolCallPiece } from '../chat/tool-calls.ts'
import { unfoldCompletion } from '../chat/unfold-body.ts'
import { buildMessagesError } from '../messages/error.ts'
import type { Relay, RelayReport } from '../relay.ts'
import { UPSTREAM_ERROR } from '../reported-error.ts'
import { type AnswerOptions, buildUsage, mintToolId, toStopFields } from './answer.ts'
import { createPrefillCutter } from './prefill.ts'

/**
 * Collects the upstream's document and gives the message at its end. An error in place of a
 * completion is reported, and given in the messages format should anybody send it on.
 */
export function createMessagesBody(options: AnswerOptions): Relay {
  const chunks: Buffer[] = []
  let report: RelayReport = { outputBytes: 0, finished: false }
  return expectWhole({
    push(chunk) {
      chunks.push(chunk)
      return undefined
    },
    end() {
      const document = tryParseJson(Buffer.concat(chunks))
      const reading = readChatBody(document)
      report = { ...reading, finished: true }
      const answer =
        reading.error || !isObject(document)
          ? buildMessagesError(reading.error ?? UPSTREAM_ERROR)
          : translateCompletion(document, options, reading)
      return Buffer.from(JSON.stringify(answer))
    },
    fail: () => undefined,
    report: () => report,
  })
}

function translateCompletion(
  document: JsonObject,
  options: AnswerOptions,
  { usage, outputBytes }: Pick<RelayReport, 'usage' | 'outputBytes'>,
): JsonObject {
  const { id, model, context, inputTokensEstimate } = options
  const answer = readChatChunk(unfoldCompletion(document), createToolCallTracker())
  const { reasoning, text, refusal, tools, reason, stopSequence } = answer
  const content: JsonObject[] = []
  if (reasoning !== '' && context.showsThinking) {
    content.push({ type: 'thinking', thinking: reasoning, signature: '' })
  }
  for (const piece of [cutPrefill(text, context.prefill), refusal]) {
    if (piece !== '') content.push({ type: 'text', text: piece })
  }
  for (const piece of tools) content.push(buildToolUse(piece, options))
  const ending = { reason, stopSequence, hasTools: tools.length > 0, hasRefusal: refusal !== '' }
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content,
    ...toStopFields(ending),
    usage: buildUsage(usage, inputTokensEstimate, outputBytes),
  }
}

function cutPrefill(text: string, prefill: string): string {
  const cutter = createPrefillCutter(prefill)
  return cutter.push(text) + cutter.end()
}

function buildToolUse(
  { call, arguments: text }: ToolCallPiece,
  options: AnswerOptions,
): JsonObject {
  return {
    type: 'tool_use',
    id: call.id || mintToolId(options.id, call.position),
    name: call.name === '' ? 'unknown' : options.context.toolNames.fromChat(call.name),
    input: parseInput(text),
  }
}

/** The answer is paid for: arguments that are no JSON object are kept as they came, in one. */
function parseInput(text: string): JsonObject {
  if (text.trim() === '') return {}
  const input = tryParseJson(Buffer.from(text))
  return isObject(input) ? input : { raw_arguments: text }
}
