/** The messages format over a chat upstream: one translator, named by its two ends. */

import { randomText } from '../../../base/lib/ids.ts'
import { MESSAGES_PING } from '../../dialects/messages/error.ts'
import { withExactInputs } from '../../dialects/messages/exact-inputs.ts'
import { rewordContextLength } from '../../dialects/messages-over-chat/context-length.ts'
import { translateMessageRequest } from '../../dialects/messages-over-chat/request.ts'
import {
  createMessagesBody,
  createMessagesStream,
} from '../../dialects/messages-over-chat/writer.ts'
import { UpstreamFailure } from '../failure.ts'
import { nameIgnored } from '../ignored-header.ts'
import type { UpstreamAnswer } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { answerCall, type Call } from './forward.ts'
import { readTranslatedOptions } from './read-usage-options.ts'
import { sendTranslated } from './send-chat.ts'

const HEARTBEAT = Buffer.from(MESSAGES_PING)

export async function sendCompatibleMessages(wire: Wire, call: Call): Promise<UpstreamAnswer> {
  const { settings, upstreamModel, request } = call
  const { stream, model } = request
  const inputTokensEstimate = request.estimateInputTokens()
  const value = withExactInputs(request)
  const { response, context, ignored } = await sendTranslated(wire, settings, request, (quirks) =>
    translateMessageRequest(value, { upstreamModel, stream, quirks }),
  ).catch(reword)
  const usage = readTranslatedOptions(upstreamModel)
  const options = { id: `msg_${randomText(24)}`, model, inputTokensEstimate, context, usage }
  const relay = stream ? createMessagesStream(options) : createMessagesBody(options)
  const answer = answerCall(call, response, relay, stream)
  const headers = { ...answer.headers, ...nameIgnored(ignored) }
  return { ...answer, headers, heartbeat: HEARTBEAT }
}

/**
 * Rewords a context-length error: agents shorten a conversation when they recognise the message.
 */
function reword(error: unknown): never {
  if (!(error instanceof UpstreamFailure) || error.kind !== 'rejected') throw error
  const message = rewordContextLength(error.details)
  throw message ? new UpstreamFailure('rejected', { ...error.details, message }) : error
}
