/** Images: the model is replaced and all else passes; the vendor refuses unsupported requests. */
import { spliceJson } from '../../dialects/splice.ts'
import { answerImages } from '../answer-images.ts'
import type { UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { readCompatibleFailure } from './read-failure.ts'
import { buildCompatibleRequest } from './request.ts'
import type { OpenaiCompatibleSettings } from './settings.ts'

export async function image(
  wire: Wire,
  { settings, upstreamModel, request }: UpstreamCall<OpenaiCompatibleSettings>,
): Promise<UpstreamAnswer> {
  const set = { model: JSON.stringify(upstreamModel) }
  const body = spliceJson(request.body, request.fields, { set })
  const { stream } = request
  const response = await wire.send(
    buildCompatibleRequest(settings, '/images/generations', body, stream),
  )
  if (response.status >= 400) throw await readCompatibleFailure(response, request.value)
  const answer = answerImages(response, request)
  return { ...answer, stopsOnCancel: settings.stops_on_cancel }
}
