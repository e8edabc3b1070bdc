/** Translates a whole message to a chat completion. */

import { asString, isObject, type JsonObject, member, writeJson } from '../../lib/json.ts'
import { estimateTokensOfBytes } from '../../lib/text/estimate-tokens.ts'
import { buildChatError } from '../chat/error.ts'
import { readFreeText } from '../chat/free-text-tool.ts'
import { readMessagesBody } from '../messages/read-body.ts'
import type { Relay } from '../relay.ts'
import type { BodyReading } from '../tap.ts'
import { createBodyTranslator } from '../translate-body.ts'
import { readCount } from '../usage/read-count.ts'
import {
  type ChatAnswerOptions,
  encodeTier,
  mintCallId,
  readRefusal,
  toChatUsage,
  toFinishReason,
} from './answer.ts'
import { Citations } from './citations.ts'
import { readSearches } from './searches.ts'

/** Collects the upstream's document and returns the completion at its end. */
export function createChatBody(options: ChatAnswerOptions): Relay {
  return createBodyTranslator({
    read: (document) => readMessagesBody(document, options.usage),
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
    message: buildMessage(document, options),
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

/** Shows searches that the vendor ran to a further translation only: the chat format has none. */
function buildMessage(document: JsonObject, options: ChatAnswerOptions): JsonObject {
  const { showsDetails = false, legacyFunctions = false, customTools } = options
  const { content } = document
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  const join = (type: string, field: string): string => {
    const texts = blocks.filter((block) => block.type === type)
    return texts.map((block) => asString(block[field]) ?? '').join('')
  }
  const text = join('text', 'text')
  const reasoning = join('thinking', 'thinking')
  const signed = blocks.filter(({ type }) => type === 'thinking' || type === 'redacted_thinking')
  const isSigned = showsDetails && signed.length > 0
  const searches = showsDetails ? readSearches(blocks) : []
  const annotations = listAnnotations(blocks)
  const uses = blocks.filter(({ type }) => type === 'tool_use')
  const calls = uses.map((use, position) => {
    return buildCall({ ...use, id: use.id || mintCallId(options.id, position) }, customTools)
  })
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: readRefusal(document) ?? null,
    ...(reasoning === '' || isSigned ? {} : { reasoning_content: reasoning }),
    ...(isSigned ? { signed_reasoning: signed } : {}),
    ...(searches.length > 0 ? { hosted_searches: searches } : {}),
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(legacyFunctions || calls.length === 0 ? {} : { tool_calls: calls }),
    ...(legacyFunctions && calls[0] ? { function_call: calls[0].function } : {}),
  }
}

function listAnnotations(blocks: readonly JsonObject[]): JsonObject[] {
  const citations = new Citations()
  return blocks.flatMap(({ type, text, citations: sources }) => {
    if (type !== 'text') return []
    citations.addText(asString(text) ?? '')
    citations.addAll(sources)
    return citations.endBlock()
  })
}

function buildCall(
  { id, name, input }: JsonObject,
  customTools?: ReadonlySet<unknown>,
): JsonObject {
  // Some proxies send the input as the text that it was generated as.
  const text = asString(input) || writeJson(input || {})
  if (customTools?.has(name)) {
    return { id, type: 'custom', custom: { name, input: readFreeText(text) } }
  }
  return { id, type: 'function', function: { name, arguments: text } }
}
