/** The Responses API: passed through, or translated to chat if the channel is set so. */

import { randomText } from '../../../base/lib/ids.ts'
import { chainAfterReading } from '../../dialects/chain.ts'
import { decideOnFirstByte } from '../../dialects/chat/expect-body.ts'
import type { Relay } from '../../dialects/relay.ts'
import { createResponsesCollector } from '../../dialects/responses/collect-stream.ts'
import { readResponseBody } from '../../dialects/responses/read-response.ts'
import { readResponseStatus } from '../../dialects/responses/read-status.ts'
import { createResponsesTap } from '../../dialects/responses/tap.ts'
import { createResponsesUnfolder } from '../../dialects/responses/unfold-body.ts'
import { translateResponseRequest } from '../../dialects/responses-over-chat/request.ts'
import {
  createResponsesBody,
  createResponsesStream,
} from '../../dialects/responses-over-chat/writer.ts'
import { type BodyReading, createBodyTap } from '../../dialects/tap.ts'
import { throwInOwnForm, UpstreamFailure } from '../failure.ts'
import { nameIgnored } from '../ignored-header.ts'
import type { UpstreamAnswer } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { answerCall, type Call, sendBody } from './forward.ts'
import { readChatUsageOptions, readTranslatedOptions } from './read-usage-options.ts'
import { sendTranslated } from './send-chat.ts'

export function responses(wire: Wire, call: Call): Promise<UpstreamAnswer> {
  return call.settings.responses === 'translate' ? translate(wire, call) : pass(wire, call)
}

async function pass(wire: Wire, call: Call): Promise<UpstreamAnswer> {
  const { upstreamModel, request } = call
  const { stream } = request
  const isBackground = request.value.background === true
  const response = await sendBody(wire, call, '/responses').catch(refuseMissingApi)
  const usage = readChatUsageOptions(request.value, upstreamModel)
  const tap = createResponsesTap(usage, isBackground ? { backgroundAfter: -1 } : {})
  const whole = createBodyTap((document) =>
    readEnded(readResponseBody(document, usage), document, isBackground),
  )
  const relay = stream ? readStream(tap, whole) : readWhole(tap, whole)
  return answerCall(call, response, relay, stream)
}

/** An answer in the other form is converted: SDKs read only what they asked for. */
function readStream(tap: Relay, whole: Relay): Relay {
  return decideOnFirstByte(tap, (isJson) => {
    return isJson ? chainAfterReading(whole, createResponsesUnfolder()) : tap
  })
}

function readWhole(tap: Relay, whole: Relay): Relay {
  return decideOnFirstByte(whole, (isJson) => {
    return isJson ? whole : chainAfterReading(tap, createResponsesCollector())
  })
}

/**
 * Drops the id of a response that goes on in the background without being requested so: its cost is
 * not known, so it must not be readable again.
 */
function readEnded(reading: BodyReading, document: unknown, isBackground: boolean): BodyReading {
  const status = readResponseStatus(document)
  if (isBackground || (status !== 'queued' && status !== 'in_progress')) return reading
  const { answerId: _unpaid, ...rest } = reading
  return rest
}

/** A vendor without this API answers 404, 405 or 501, which is passed on as a refusal. */
function refuseMissingApi(error: unknown): never {
  const isMissing =
    error instanceof UpstreamFailure && [404, 405, 501].includes(error.details.status ?? 0)
  throw isMissing ? new UpstreamFailure('rejected', error.details) : error
}

async function translate(wire: Wire, call: Call): Promise<UpstreamAnswer> {
  const { settings, upstreamModel, request } = call
  const { stream, model, createdAtSeconds } = request
  const inputTokensEstimate = request.estimateInputTokens()
  const { response, context, ignored } = await sendTranslated(wire, settings, request, (quirks) =>
    translateResponseRequest(request.value, { upstreamModel, stream, quirks }),
  ).catch(throwInOwnForm)
  const id = `resp_${randomText(24)}`
  const usage = readTranslatedOptions(upstreamModel)
  const options = { id, createdAtSeconds, model, inputTokensEstimate, context, usage }
  const relay = stream ? createResponsesStream(options) : createResponsesBody(options)
  const answer = answerCall(call, response, relay, stream)
  return { ...answer, headers: { ...answer.headers, ...nameIgnored(ignored) } }
}
