/**
 * Edits by the vendor's image models, which take pictures as references of a generation
 * (docs/protocols/ark.md#images).
 */

import { asString, isObject, type JsonObject } from '../../../base/lib/json.ts'
import { InvalidRequest } from '../../dialects/invalid-request.ts'
import { parseRequestJson } from '../../dialects/request-json/parse.ts'
import { UpstreamFailure } from '../failure.ts'
import type { CallRequest, UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { image } from './image.ts'
import type { ArkSettings } from './settings.ts'

export async function imageEdit(
  wire: Wire,
  call: UpstreamCall<ArkSettings>,
): Promise<UpstreamAnswer> {
  return image(wire, { ...call, request: toGeneration(call.request) })
}

function toGeneration(request: CallRequest): CallRequest {
  const { images, mask, ...rest } = request.value
  if (mask !== undefined) throw new InvalidRequest('mask', 'this model takes no mask')
  const value = images === undefined ? rest : { ...rest, image: readReferences(images) }
  const body = Buffer.from(JSON.stringify(value))
  const parsed = parseRequestJson(body)
  if (!parsed.ok) throw new UpstreamFailure('rejected', { message: parsed.message })
  return { ...request, body, value, fields: parsed.fields }
}

function readReferences(images: unknown): readonly string[] {
  const references: readonly unknown[] = Array.isArray(images) ? images : []
  return references.map((one, index) => {
    const reference: JsonObject = isObject(one) ? one : {}
    const url = asString(reference.image_url)
    const other = Object.keys(reference).find((name) => name !== 'image_url')
    if (other !== undefined) {
      throw new InvalidRequest(`images[${index}].${other}`, 'this model takes only image_url')
    }
    if (url === undefined) throw new InvalidRequest(`images[${index}].image_url`, 'required')
    return url
  })
}
