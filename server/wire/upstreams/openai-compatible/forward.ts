/**
 * Builds the operations of this protocol: the caller's body is forwarded, and the answer is
 * returned.
 */
import type { RelayReport } from '../../dialects/relay.ts'
import { type JsonEdits, spliceJson } from '../../dialects/splice.ts'
import { type BodyReading, createBodyTap } from '../../dialects/tap.ts'
import { UpstreamFailure } from '../failure.ts'
import type { CallAdapter, CallRequest, UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire, WireResponse } from '../wire.ts'
import { readCompatibleFailure } from './read-failure.ts'
import { buildCompatibleRequest } from './request.ts'
import type { OpenaiCompatibleSettings } from './settings.ts'

export type Call = UpstreamCall<OpenaiCompatibleSettings>

/** An operation whose requests pass and whose answers are documents. */
interface Forwarding {
  /** Its path below the channel's base URL. */
  readonly path: string
  /** Reads the usage and the error of an answer. */
  readonly read: (document: unknown) => BodyReading
}

/** Returns the adapter of an operation: the model is set, everything else passes unchanged. */
export function forward({ path, read }: Forwarding): CallAdapter<OpenaiCompatibleSettings> {
  return async (wire, call) => {
    const response = await sendBody(wire, call, path, false)
    return { ...answerCall(call, response, createBodyTap(read), false), stopsOnCancel: false }
  }
}

/** Sends the request under the channel's model. Rejects with the vendor's refusal. */
export async function sendBody(
  wire: Wire,
  { settings, upstreamModel, request }: Call,
  path: string,
  stream = request.stream,
  edits?: ModelEdits,
): Promise<WireResponse> {
  const body = spliceModel(request, upstreamModel, edits)
  const response = await wire.send(buildCompatibleRequest(settings, path, body, stream))
  if (response.status >= 400) throw await readCompatibleFailure(response, request.value)
  return response
}

/** Changes beside the name of the model. */
type ModelEdits = Pick<JsonEdits, 'set' | 'setInside' | 'rename'>

/** Returns the body with the vendor's name of the model; all other bytes are the caller's. */
export function spliceModel(
  { body, fields }: CallRequest,
  upstreamModel: string,
  edits?: ModelEdits,
): Buffer {
  const set = { ...edits?.set, model: JSON.stringify(upstreamModel) }
  return spliceJson(body, fields, { ...edits, set })
}

/** Describes an answer in the form of this protocol. */
export function answerCall(
  { settings }: Call,
  { body }: WireResponse,
  relay: UpstreamAnswer['relay'],
  stream: boolean,
): UpstreamAnswer {
  return {
    status: 200,
    headers: stream ? EVENTS : DOCUMENT,
    body,
    relay,
    stream,
    stopsOnCancel: settings.stops_on_cancel,
    refusal: chatRefusal,
  }
}

const DOCUMENT = { 'content-type': 'application/json' }
const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }

/** Returns the failure for an error in place of a first chunk or of an answer, under status 200. */
function chatRefusal(report: RelayReport): UpstreamFailure | undefined {
  if (!report.error) return undefined
  const { message, code } = report.error
  return new UpstreamFailure('failed', { status: 200, message, ...(code ? { code } : {}) })
}
