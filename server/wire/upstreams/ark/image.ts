/**
 * Images in the vendor's form of OpenAI's dialect (docs/protocols/ark.md#images). Two fields
 * differ: `n` becomes a sequence of images, and the size `auto`, which is the default, is omitted.
 */

import { member } from '../../../base/lib/json.ts'
import { type JsonEdits, spliceJson } from '../../dialects/splice.ts'
import { answerImages } from '../answer-images.ts'
import { sendWithKey } from '../send-with-key.ts'
import type { CallRequest, UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { judgeArkImage } from './judge-image.ts'
import { readArkFailure } from './read-failure.ts'
import type { ArkSettings } from './settings.ts'

const PATH = '/images/generations'

export async function image(
  wire: Wire,
  { settings, upstreamModel, request }: UpstreamCall<ArkSettings>,
): Promise<UpstreamAnswer> {
  judgeArkImage(request.value, upstreamModel)
  const edits = editsFor(request.value, upstreamModel)
  const body = spliceJson(request.body, request.fields, edits)
  const response = await sendWithKey(wire, settings, 'POST', PATH, body)
  if (response.status >= 400) throw await readArkFailure(response, request.value)
  return answerImages(response, request)
}

function editsFor(value: CallRequest['value'], upstreamModel: string): JsonEdits {
  const { n, size, sequential_image_generation: sequence } = value
  const isMany = typeof n === 'number' && n > 1
  const options = value.sequential_image_generation_options
  const hasMost = typeof member(options, 'max_images') === 'number'
  const remove = ['n', ...(size === 'auto' ? ['size'] : [])]
  const set = { model: JSON.stringify(upstreamModel) }
  if (!isMany || (sequence === 'auto' && hasMost)) return { remove, set }
  return {
    remove,
    set: { ...set, sequential_image_generation: '"auto"' },
    setInside: { sequential_image_generation_options: { max_images: String(n) } },
  }
}
