/** The Responses API: passed through, or translated to chat if the channel is set so. */
import { chainAfterReading } from '../../dialects/chain.ts'
import { decideOnFirstByte } from '../../dialects/chat/expect-body.ts'
import type { Relay } from '../../dialects/relay.ts'
import { createResponsesCollector } from '../../dialects/responses/collect-stream.ts'
import { readResponseBody } from '../../dialects/responses/read-response.ts'
import { readResponseStatus } from '../../dialects/responses/read-status.ts'
import { createResponsesTap } from '../../dialects/responses/tap.ts'
import { createResponsesUnfolder } from '../../dialects/responses/unfold-body.ts'
import { createResponsesBody } from '../../dialects/responses-over-chat/body.ts'
import { translateResponseRequest } from '../../dialects/responses-over-chat/request.ts'
import { createResponsesStream } from '../../dialects/responses-over-chat/stream.ts'
import { spliceJson } from '../../dialects/splice.ts'
import { type BodyReading, createBodyTap } from '../../dialects/tap.ts'
import { randomText } from '../../lib/ids.ts'
import { UpstreamFailure } from '../failure.ts'
import { nameIgnored } from '../ignored-header.ts'
import type { UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire, WireResponse } from '../wire.ts'
import { chatAnswerHeaders, chatRefusal } from './chat.ts'
import { readCompatibleFailure } from './read-failure.ts'
import { readChatUsageOptions } from './read-usage-options.ts'
import { buildCompatibleRequest } from './request.ts'
import { sendTranslated } from './send-chat.ts'
import type { OpenaiCompatibleSettings } from './settings.ts'

type Call = UpstreamCall<OpenaiCompatibleSettings>

export function responses(wire: Wire, call: Call): Promise<UpstreamAnswer> {
  return call.settings.responses === 'translate' ? translate(wire, call) : pass(wire, call)
}

async function pass(
  wire: Wire,
  { settings, upstreamModel, request }: Call,
): Promise<UpstreamAnswer> {
  const { fields, value } = request
  const isBackground = value.background === true
  const body = spliceJson(request.body, fields, { set: { model: JSON.stringify(upstreamModel) } })
  const response = await wire.send(
    buildCompatibleRequest(settings, '/responses', body, request.stream),
  )
  if (response.status >= 400) throw await readMissingApi(response, value)
  const { stream } = request
  const usage = readChatUsageOptions(request.value, upstreamModel)
  const tap = createResponsesTap(usage, isBackground ? { backgroundAfter: -1 } : {})
  const whole = createBodyTap((document) =>
    readEnded(readResponseBody(document, usage), document, isBackground),
  )
  return {
    status: 200,
    headers: chatAnswerHeaders(stream),
    body: response.body,
    relay: stream ? readStream(tap, whole) : readWhole(tap, whole),
    stream,
    stopsOnCancel: settings.stops_on_cancel,
    refusal: chatRefusal,
  }
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
async function readMissingApi(response: WireResponse, value: unknown): Promise<UpstreamFailure> {
  const failure = await readCompatibleFailure(response, value)
  const isMissing = [404, 405, 501].includes(response.status)
  return isMissing ? new UpstreamFailure('rejected', failure.details) : failure
}

async function translate(
  wire: Wire,
  { settings, upstreamModel, request }: Call,
): Promise<UpstreamAnswer> {
  const { stream, model, createdAtSeconds } = request
  const inputTokensEstimate = request.estimateInputTokens()
  const { response, context, ignored } = await sendTranslated(wire, settings, request, (quirks) =>
    translateResponseRequest(request.value, { upstreamModel, stream, quirks }),
  )
  const id = `resp_${randomText(24)}`
  const options = { id, createdAtSeconds, model, inputTokensEstimate, context }
  return {
    status: 200,
    headers: { ...chatAnswerHeaders(stream), ...nameIgnored(ignored) },
    body: response.body,
    relay: stream ? createResponsesStream(options) : createResponsesBody(options),
    stream,
    stopsOnCancel: settings.stops_on_cancel,
    refusal: chatRefusal,
  }
}
