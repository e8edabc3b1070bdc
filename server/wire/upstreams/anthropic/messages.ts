/** Messages, same dialect at both ends: the model is replaced, all else passes as bytes. */
import { chainAfterReading } from '../../dialects/chain.ts'
import { decideOnFirstByte } from '../../dialects/chat/expect-body.ts'
import { createMessagesCollector } from '../../dialects/messages/collect-stream.ts'
import { editHistory } from '../../dialects/messages/edit-history.ts'
import { MESSAGES_PING } from '../../dialects/messages/error.ts'
import { readMessagesBody } from '../../dialects/messages/read-body.ts'
import { repairMessage } from '../../dialects/messages/repair.ts'
import { createMessagesTap, type MessagesTapOptions } from '../../dialects/messages/tap.ts'
import { createMessagesUnfolder } from '../../dialects/messages/unfold-body.ts'
import type { Relay, RelayReport } from '../../dialects/relay.ts'
import { spliceJson } from '../../dialects/splice.ts'
import { createBodyTap } from '../../dialects/tap.ts'
import { UpstreamFailure } from '../failure.ts'
import type { UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { describeIgnored, readBetas } from './betas.ts'
import { readMessagesUsageOptions } from './read-usage-options.ts'
import { buildMessagesRequest, readMessagesFailure } from './request.ts'
import type { AnthropicSettings } from './settings.ts'

const HEARTBEAT = Buffer.from(MESSAGES_PING)

export async function sendNativeMessages(
  wire: Wire,
  { settings, upstreamModel, request }: UpstreamCall<AnthropicSettings>,
): Promise<UpstreamAnswer> {
  const set = { model: JSON.stringify(upstreamModel), ...editHistory(request.value).set }
  const body = spliceJson(request.body, request.fields, { set })
  const betas = readBetas(request.headers['anthropic-beta'], settings.betas)
  const response = await wire.send(buildMessagesRequest(settings, request, body, betas.forwarded))
  if (response.status >= 400) throw await readMessagesFailure(response, request.value)
  const { stream } = request
  const usage = readMessagesUsageOptions(request.value)
  return {
    status: 200,
    headers: { ...messagesAnswerHeaders(stream), ...describeIgnored(betas) },
    body: response.body,
    relay: readAnswer(stream, { ...usage, estimateInputTokens: request.estimateInputTokens }),
    stream,
    stopsOnCancel: settings.stops_on_cancel,
    heartbeat: HEARTBEAT,
    refusal: messagesRefusal,
  }
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

export function messagesAnswerHeaders(stream: boolean): Record<string, string> {
  if (!stream) return { 'content-type': 'application/json' }
  return { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
}

/** Returns the failure for an error in place of the first event, under status 200. */
export function messagesRefusal(report: RelayReport): UpstreamFailure | undefined {
  if (!report.error) return undefined
  const kind = report.error.type === 'overloaded_error' ? 'busy' : 'failed'
  return new UpstreamFailure(kind, { status: 200, message: report.error.message })
}
