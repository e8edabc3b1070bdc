/**
 * POST /audio/speech: the model is replaced, all else passes, and so do the bytes of the answer.
 */
import { spliceJson } from '../../dialects/splice.ts'
import {
  contentTypeOfAnswer,
  readAudioFormat,
  wantsEvents,
} from '../../dialects/synthesis/formats.ts'
import { createAudioEventTap, createAudioTap } from '../../dialects/synthesis/tap.ts'
import { isDocument } from '../read-json.ts'
import type { UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { chatRefusal } from './chat.ts'
import { readCompatibleFailure } from './read-failure.ts'
import { buildCompatibleRequest } from './request.ts'
import type { OpenaiCompatibleSettings } from './settings.ts'

export async function synthesis(
  wire: Wire,
  { settings, upstreamModel, request }: UpstreamCall<OpenaiCompatibleSettings>,
): Promise<UpstreamAnswer> {
  const set = { model: JSON.stringify(upstreamModel) }
  const body = spliceJson(request.body, request.fields, { set })
  const sent = buildCompatibleRequest(settings, '/audio/speech', body, true)
  const response = await wire.send({ ...sent, headers: { ...sent.headers, accept: '*/*' } })
  if (response.status >= 400 || isDocument(response))
    throw await readCompatibleFailure(response, request.value)
  const events = wantsEvents(request.value)
  return {
    status: 200,
    headers: { 'content-type': contentTypeOfAnswer(request.value) },
    body: response.body,
    relay: events ? createAudioEventTap() : createAudioTap(readAudioFormat(request.value)),
    stream: true,
    stopsOnCancel: settings.stops_on_cancel,
    cutsWhenBroken: !events,
    refusal: chatRefusal,
  }
}
