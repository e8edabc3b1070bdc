/** A whole chat completion as a response. */
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { buildChatError } from '../chat/error.ts'
import { expectWhole } from '../chat/expect-body.ts'
import { readChatBody } from '../chat/read-body.ts'
import { readChatChunk } from '../chat/read-chunk.ts'
import { createToolCallTracker } from '../chat/tool-calls.ts'
import { unfoldCompletion } from '../chat/unfold-body.ts'
import type { Relay, RelayReport } from '../relay.ts'
import { UPSTREAM_ERROR } from '../reported-error.ts'
import {
  type AnswerOptions,
  buildResponse,
  buildUsage,
  readIncompleteReason,
  readReasoningTokens,
} from './answer.ts'
import { Output } from './output.ts'

/**
 * Collects the upstream's document and gives the response at its end. An error in place of a
 * completion is reported, and given in this dialect's form should anybody send it on.
 */
export function createResponsesBody(options: AnswerOptions): Relay {
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
          ? buildChatError(reading.error ?? UPSTREAM_ERROR)
          : translateCompletion(document, options, reading)
      return Buffer.from(JSON.stringify(answer))
    },
    fail: () => undefined,
    report: () => report,
  })
}

/** The same output as of a stream of one chunk, without its events. */
function translateCompletion(
  document: JsonObject,
  options: AnswerOptions,
  { usage, outputBytes }: Pick<RelayReport, 'usage' | 'outputBytes'>,
): JsonObject {
  const { id, context, inputTokensEstimate } = options
  const output = new Output({ responseId: id, tools: context.tools, emit: () => {} })
  const delta = readChatChunk(unfoldCompletion(document), createToolCallTracker())
  const reason = readIncompleteReason(delta.reason)
  const status = reason === undefined ? 'completed' : 'incomplete'
  output.add(delta)
  output.finish(status)
  const reasoningTokens = readReasoningTokens(document)
  return buildResponse(options, {
    status,
    output: output.build(),
    usage: buildUsage(usage, reasoningTokens, inputTokensEstimate, outputBytes),
    ...(reason === undefined ? {} : { reason }),
  })
}
