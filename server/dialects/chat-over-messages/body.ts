/** Translates a whole message to a chat completion. */

import { asString, isObject, type JsonObject, member, writeJson } from '../../lib/json.ts'
import { estimateTokensOfBytes } from '../../lib/text/estimate-tokens.ts'
import { buildChatError } from '../chat/error.ts'
import { readMessagesBody } from '../messages/read-body.ts'
import type { Relay } from '../relay.ts'
import type { BodyReading } from '../tap.ts'
import { createBodyTranslator } from '../translate-body.ts'
import { readCount } from '../usage/read-count.ts'
import { type ChatAnswerOptions, encodeTier, toChatUsage, toFinishReason } from './answer.ts'

/** Collects the upstream's document and returns the completion at its end. */
export function createChatBody(options: ChatAnswerOptions): Relay {
  return createBodyTranslator({
    read: readMessagesBody,
    translate: (document, reading) => translateMessage(document, options, reading),
    toError: buildChatError,
  })
}

function translateMessage(
  document: JsonObject,
  options: ChatAnswerOptions,
  reading: BodyReading,
): JsonObject {
  const { id, model, created, inputTokensEstimate } = options
  const estimate = {
    input_token: inputTokensEstimate,
    output_token: estimateTokensOfBytes(reading.outputBytes),
  }
  const choice = {
    index: 0,
    message: buildMessage(document.content, options),
    logprobs: null,
    finish_reason: toFinishReason(document.stop_reason, options),
  }
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [choice],
    usage: toChatUsage(reading.usage, readThinkingTokens(document), estimate),
    ...encodeTier(reading),
  }
}

function readThinkingTokens({ usage }: JsonObject): number | undefined {
  return readCount(member(member(usage, 'output_tokens_details'), 'thinking_tokens'))
}

/** Drops other blocks, such as a search that the vendor ran: the chat format has none. */
function buildMessage(
  content: unknown,
  { showsSignatures = false, legacyFunctions = false }: ChatAnswerOptions,
): JsonObject {
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  const join = (type: string, field: string): string => {
    const texts = blocks.filter((block) => block.type === type)
    return texts.map((block) => asString(block[field]) ?? '').join('')
  }
  const text = join('text', 'text')
  const reasoning = join('thinking', 'thinking')
  const signed = blocks.filter(({ type }) => type === 'thinking' || type === 'redacted_thinking')
  const isSigned = showsSignatures && signed.length > 0
  const calls = blocks.filter(({ type }) => type === 'tool_use').map(buildCall)
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(reasoning === '' || isSigned ? {} : { reasoning_content: reasoning }),
    ...(isSigned ? { signed_reasoning: signed } : {}),
    ...(legacyFunctions || calls.length === 0 ? {} : { tool_calls: calls }),
    ...(legacyFunctions && calls[0] ? { function_call: calls[0].function } : {}),
  }
}

function buildCall({ id, name, input }: JsonObject): JsonObject {
  return { id, type: 'function', function: { name, arguments: writeJson(input ?? {}) } }
}
