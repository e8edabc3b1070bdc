/** The messages format over a chat upstream: one translator, named by its two ends. */

import { MESSAGES_PING } from '../../dialects/messages/error.ts'
import { createMessagesBody } from '../../dialects/messages-over-chat/body.ts'
import { rewordContextLength } from '../../dialects/messages-over-chat/context-length.ts'
import { translateMessageRequest } from '../../dialects/messages-over-chat/request.ts'
import { createMessagesStream } from '../../dialects/messages-over-chat/stream.ts'
import { randomText } from '../../lib/ids.ts'
import { UpstreamFailure } from '../failure.ts'
import { nameIgnored } from '../ignored-header.ts'
import type { UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { chatAnswerHeaders, chatRefusal } from './chat.ts'
import { sendTranslated } from './send-chat.ts'
import type { OpenaiCompatibleSettings } from './settings.ts'

const HEARTBEAT = Buffer.from(MESSAGES_PING)

export async function sendCompatibleMessages(
  wire: Wire,
  { settings, upstreamModel, request }: UpstreamCall<OpenaiCompatibleSettings>,
): Promise<UpstreamAnswer> {
  const { stream, model } = request
  const inputTokensEstimate = request.estimateInputTokens()
  const { response, context, ignored } = await sendTranslated(wire, settings, request, (quirks) =>
    translateMessageRequest(request.value, { upstreamModel, stream, quirks }),
  ).catch(reword)
  const options = { id: `msg_${randomText(24)}`, model, inputTokensEstimate, context }
  return {
    status: 200,
    headers: { ...chatAnswerHeaders(stream), ...nameIgnored(ignored) },
    body: response.body,
    relay: stream ? createMessagesStream(options) : createMessagesBody(options),
    stream,
    stopsOnCancel: settings.stops_on_cancel,
    heartbeat: HEARTBEAT,
    refusal: chatRefusal,
  }
}

/**
 * Rewords a context-length error: agents shorten a conversation when they recognise the message.
 */
function reword(error: unknown): never {
  if (!(error instanceof UpstreamFailure) || error.kind !== 'rejected') throw error
  const message = rewordContextLength(error.details)
  throw message ? new UpstreamFailure('rejected', { ...error.details, message }) : error
}
