/**
 * Doubao speech synthesis V3 over HTTP (docs/protocols/volcengine-speech.md#synthesis-request), as
 * a native pass-through and as a translation of POST /v1/audio/speech.
 */
import { z } from 'zod'
import { uuidOf } from '../../../base/lib/ids.ts'
import { asString, member, tryParseJson } from '../../../base/lib/json.ts'
import { joinUrl } from '../../../base/lib/text/base-url.ts'
import { InvalidRequest } from '../../dialects/invalid-request.ts'
import type { RelayReport } from '../../dialects/relay.ts'
import { classifySpeechCode } from '../../dialects/speech/errors.ts'
import { prepareSpeechRequest } from '../../dialects/speech/request.ts'
import { createSpeechTap } from '../../dialects/speech/tap.ts'
import { contentTypeOfAnswer, wantsEvents } from '../../dialects/synthesis/formats.ts'
import { translateSynthesisRequest } from '../../dialects/synthesis-over-speech/request.ts'
import { createSynthesisStream } from '../../dialects/synthesis-over-speech/stream.ts'
import { refineRejection } from '../account-refusal.ts'
import {
  classifyStatus,
  type FailureKind,
  readErrorBody,
  readRetryAfter,
  UpstreamFailure,
} from '../failure.ts'
import { baseUrl } from '../shared-settings.ts'
import {
  credentialHeaders,
  haveOneStyle,
  ONE_STYLE,
  SPEECH_SECRETS,
  speechCredentials,
} from '../speech-credentials.ts'
import {
  type CallRequest,
  defineUpstream,
  type UpstreamAnswer,
  type UpstreamCall,
} from '../upstream.ts'
import type { Wire, WireResponse } from '../wire.ts'

const settings = z
  .strictObject({
    base_url: baseUrl().default('https://openspeech.bytedance.com'),
    ...speechCredentials,
    stops_on_cancel: z.boolean().default(false),
  })
  .refine(haveOneStyle, ONE_STYLE)
type Settings = z.infer<typeof settings>

/**
 * A refusal in the vendor's first line becomes an error with a status if it comes within this time;
 * a slow voice must not hold the head of the answer up for longer.
 */
const HEAD_WITHIN_MS = 200

async function speech(wire: Wire, call: UpstreamCall<Settings>): Promise<UpstreamAnswer> {
  const { settings: channel, request } = call
  const response = await send(
    wire,
    call,
    prepareSpeechRequest(request.body, request.fields, request.value),
  )
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: response.body,
    relay: createSpeechTap(),
    stream: true,
    stopsOnCancel: channel.stops_on_cancel,
    headWithinMs: HEAD_WITHIN_MS,
    refusal: readError(request),
  }
}

async function synthesis(wire: Wire, call: UpstreamCall<Settings>): Promise<UpstreamAnswer> {
  const { settings: channel, request } = call
  const { value } = request
  const response = await send(wire, call, translateRequest(value))
  return {
    status: 200,
    headers: { 'content-type': contentTypeOfAnswer(value) },
    body: response.body,
    relay: createSynthesisStream(value),
    stream: true,
    stopsOnCancel: channel.stops_on_cancel,
    cutsWhenBroken: !wantsEvents(value),
    refusal: readError(call.request),
  }
}

/** Translates the request; a format that the vendor does not make is refused. */
function translateRequest(value: UpstreamCall<Settings>['request']['value']): Buffer {
  try {
    return translateSynthesisRequest(value)
  } catch (error) {
    if (!(error instanceof InvalidRequest)) throw error
    throw new UpstreamFailure('rejected', { message: error.message, param: error.param })
  }
}

async function send(
  wire: Wire,
  { settings: channel, upstreamModel, request }: UpstreamCall<Settings>,
  body: Buffer,
): Promise<WireResponse> {
  const response = await wire.send({
    method: 'POST',
    url: joinUrl(channel.base_url, '/api/v3/tts/unidirectional'),
    headers: {
      ...credentialHeaders(channel),
      'x-api-resource-id': upstreamModel,
      'x-api-request-id': uuidOf(request.requestId),
      // Without it the vendor states no usage, and only an estimate could be charged.
      'x-control-require-usage-tokens-return': '*',
      'content-type': 'application/json',
    },
    body,
  })
  if (response.status >= 400) throw await readFailure(response, request)
  return response
}

/** Returns the failure of an error in place of the first object, under HTTP 200. */
function readError({ value }: CallRequest) {
  return ({ error }: RelayReport): UpstreamFailure | undefined => {
    if (!error) return undefined
    const { code = '', message } = error
    return classify(200, Number(code), message, value)
  }
}

/**
 * Reads a refusal before the product
 * (docs/protocols/volcengine-speech.md#refusals-before-the-product).
 */
async function readFailure(
  response: WireResponse,
  { value }: CallRequest,
): Promise<UpstreamFailure> {
  const header = member(tryParseJson(await readErrorBody(response)), 'header')
  const code = Number(member(header, 'code') ?? 0)
  const failure = classify(response.status, code, asString(member(header, 'message')), value)
  const retryAfterSeconds = readRetryAfter(response.headers)
  return new UpstreamFailure(failure.kind, { ...failure.details, retryAfterSeconds })
}

function classify(
  status: number,
  code: number,
  message: string | undefined,
  value: unknown,
): UpstreamFailure {
  const kind =
    status === 200 ? classifySpeechCode(code, message) : classifyRefusal(status, code, message)
  return new UpstreamFailure(refineRejection(kind, message, value), {
    status,
    message,
    ...(code > 0 ? { code: String(code) } : {}),
  })
}

/** The platform uses 45000000 for malformed requests too, so its status decides beside it. */
function classifyRefusal(status: number, code: number, message: string | undefined): FailureKind {
  const kind = classifyStatus(status)
  const isOfCode = kind === 'rejected' && code > 0 && code !== UNSPECIFIC
  return isOfCode ? classifySpeechCode(code, message) : kind
}

const UNSPECIFIC = 45000000

export const doubaoSpeech = defineUpstream({
  name: 'doubao-speech',
  settings,
  secrets: SPEECH_SECRETS,
  // A voice is a speaker's name there, also in an object.
  translates: (operation) => operation === 'synthesis',
  calls: { speech, synthesis },
})
