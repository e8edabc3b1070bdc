/** Translates a whole chat completion to a response. */
import type { JsonObject } from '../../lib/json.ts'
import { buildChatError } from '../chat/error.ts'
import { expectWhole } from '../chat/expect-body.ts'
import { readChatBody } from '../chat/read-body.ts'
import { readChatChunk } from '../chat/read-chunk.ts'
import { createToolCallTracker } from '../chat/tool-calls.ts'
import { unfoldCompletion } from '../chat/unfold-body.ts'
import type { Relay } from '../relay.ts'
import type { BodyReading } from '../tap.ts'
import { createBodyTranslator } from '../translate-body.ts'
import {
  buildResponse,
  buildResponseUsage,
  type ResponseAnswerOptions,
  readIncompleteReason,
  readReasoningTokens,
  readTier,
} from './answer.ts'
import { Output } from './output.ts'

/** Collects the upstream's document and returns the response at its end. */
export function createResponsesBody(options: ResponseAnswerOptions): Relay {
  const translator = createBodyTranslator({
    read: readChatBody,
    translate: (document, reading) => translateCompletion(document, options, reading),
    toError: buildChatError,
  })
  return expectWhole(translator)
}

/** Returns the same output as a stream of one chunk, without its events. */
function translateCompletion(
  document: JsonObject,
  options: ResponseAnswerOptions,
  reading: BodyReading,
): JsonObject {
  const { id, context, inputTokensEstimate } = options
  const output = new Output({
    responseId: id,
    tools: context.tools,
    sealsReasoning: context.sealsReasoning,
    showsSources: context.showsSources,
    emit: () => {},
  })
  const delta = readChatChunk(unfoldCompletion(document), createToolCallTracker())
  const reason = readIncompleteReason(delta.reason)
  const status = reason === undefined ? 'completed' : 'incomplete'
  output.add(delta)
  output.finish(status)
  const { usage, outputBytes } = reading
  const reasoningTokens = readReasoningTokens(document)
  return buildResponse(options, {
    status,
    output: output.build(),
    usage: buildResponseUsage(usage, reasoningTokens, inputTokensEstimate, outputBytes),
    tier: readTier(reading),
    reason,
  })
}
