/** The one request of both ways to make images: its shape, and what it can come to. */
import { z } from 'zod'
import {
  countImagesMost,
  countTokensMost,
  IMAGES_MAX,
  readImageFacts,
} from '../dialects/images/read-request.ts'
import type { RelayReport } from '../dialects/relay.ts'
import type { Quantities } from '../lib/units.ts'
import type { Body, Metering, QuotedRequest } from '../pipeline/metering.ts'
import type { CallRequest } from '../upstreams/upstream.ts'
import { estimateInputTokens } from './text.ts'

/** Reference images may come inside the request. */
const IMAGE_BODY_BYTES_MAX = 32 * 1024 * 1024

export const imageRequest = z.looseObject({
  model: z.string().min(1).describe('From GET /v1/models?type=image.'),
  prompt: z.string().min(1, 'required, and not empty'),
  n: z.int().min(1).max(IMAGES_MAX).nullish().describe('How many images; 1 when absent.'),
  size: z.string().max(40).nullish().describe('Such as 1024x1024, 2K or auto; the model’s own.'),
  quality: z.string().max(40).nullish(),
  response_format: z.enum(['url', 'b64_json']).nullish(),
  partial_images: z.int().min(0).max(3).nullish().describe('Previews in a stream.'),
  sequential_image_generation: z
    .enum(['auto', 'disabled'])
    .nullish()
    .describe('auto: the model makes as many as the prompt asks for.'),
  sequential_image_generation_options: z
    .looseObject({ max_images: z.int().min(1).max(IMAGES_MAX).optional() })
    .nullish(),
  stream: z.boolean().nullish(),
})

export const imageAnswer = z.looseObject({
  created: z.int().describe('Unix seconds.'),
  data: z.array(
    z.looseObject({
      url: z.string().optional(),
      b64_json: z.string().optional(),
      revised_prompt: z.string().optional(),
    }),
  ),
  usage: z.looseObject({}).optional(),
})

function quote({ value, inputTokens, model }: QuotedRequest): Quantities {
  const image = countImagesMost(value)
  const each = model.limits.max_output_tokens ?? countTokensMost(value)
  return { image, input_token: inputTokens, output_token: image * each }
}

/** Without stated usage: the images that were seen, or all of them when the answer is whole. */
function estimate(request: CallRequest, { usage }: RelayReport, complete: boolean): Quantities {
  const image = usage?.image ?? (complete ? countImagesMost(request.value) : 0)
  return {
    image,
    input_token: request.inputTokensEstimate,
    output_token: image * countTokensMost(request.value),
  }
}

export const imageMetering: Metering = {
  endpoint: 'images.generations',
  operation: 'image',
  modelTypes: ['image'],
  bodyBytesMax: IMAGE_BODY_BYTES_MAX,
  takesPictures: true,
  schema: imageRequest,
  model: ({ value }) => value.model as string,
  streams: (value: Body) => value.stream === true,
  inputTokens: (value) => estimateInputTokens(value.prompt),
  facts: readImageFacts,
  quote,
  needs: ['image', 'output_token'],
  fallback: estimate,
  billsBroken: true,
  passesRefusals: false,
}
