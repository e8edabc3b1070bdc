/**
 * Messages, same dialect at both ends: the model is replaced, and everything else passes unchanged.
 */
import { chainAfterReading } from '../../dialects/chain.ts'
import { decideOnFirstByte } from '../../dialects/chat/expect-body.ts'
import { createMessagesCollector } from '../../dialects/messages/collect-stream.ts'
import { editHistory } from '../../dialects/messages/edit-history.ts'
import { MESSAGES_PING } from '../../dialects/messages/error.ts'
import { withExactInputs } from '../../dialects/messages/exact-inputs.ts'
import { readMessagesBody } from '../../dialects/messages/read-body.ts'
import { repairMessage } from '../../dialects/messages/repair.ts'
import { createMessagesTap, type MessagesTapOptions } from '../../dialects/messages/tap.ts'
import { createMessagesUnfolder } from '../../dialects/messages/unfold-body.ts'
import type { Relay } from '../../dialects/relay.ts'
import { type JsonEdits, spliceJson } from '../../dialects/splice.ts'
import { createBodyTap } from '../../dialects/tap.ts'
import { nameIgnored } from '../ignored-header.ts'
import type { CallAdapter, CallRequest } from '../upstream.ts'
import { describeHostAnswer, type MessagesHost, messagesAnswerHeaders } from './host.ts'
import { readMessagesUsageOptions } from './read-usage-options.ts'
import type { MessagesSettings } from './settings.ts'

const HEARTBEAT = Buffer.from(MESSAGES_PING)

export function createMessages<Settings extends MessagesSettings>(
  host: MessagesHost<Settings>,
): CallAdapter<Settings> {
  return async (wire, { settings, upstreamModel, request }) => {
    const { stream, value, estimateInputTokens } = request
    const set = { model: JSON.stringify(upstreamModel), ...editExactly(request).set }
    const body = spliceJson(request.body, request.fields, { set })
    const sent = { settings, upstreamModel, request, body }
    const answer = await host.send(wire, sent)
    const relay = readAnswer(stream, { ...readMessagesUsageOptions(value), estimateInputTokens })
    return {
      ...describeHostAnswer(host, sent, answer, relay),
      headers: { ...messagesAnswerHeaders(stream), ...nameIgnored(answer.ignored) },
      heartbeat: HEARTBEAT,
    }
  }
}

/** Reads the inputs of calls once more only if the conversation is written anew. */
function editExactly(request: CallRequest): JsonEdits {
  const edits = editHistory(request.value)
  if (!edits.set) return edits
  const exact = withExactInputs(request)
  return exact === request.value ? edits : editHistory(exact)
}

/** An answer in the other form is converted: SDKs read only what they asked for. */
function readAnswer(isStreamRequested: boolean, options: MessagesTapOptions): Relay {
  const tap = createMessagesTap(options)
  const body = createBodyTap(
    (document) => readMessagesBody(document, options),
    (document, { outputBytes }) => {
      const inputTokensEstimate = options.estimateInputTokens?.() ?? 0
      return repairMessage(document, { inputTokensEstimate, outputBytes })
    },
  )
  return isStreamRequested
    ? decideOnFirstByte(tap, (isJson) => {
        return isJson ? chainAfterReading(body, createMessagesUnfolder()) : tap
      })
    : decideOnFirstByte(body, (isJson) => {
        return isJson ? body : chainAfterReading(tap, createMessagesCollector())
      })
}
