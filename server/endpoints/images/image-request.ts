/** The one request of both ways to make images: its shape, and what it can come to. */
import { z } from 'zod'
import {
  countImagesMost,
  countTokensMost,
  IMAGES_MAX,
  readImageFacts,
} from '../../dialects/images/read-request.ts'
import type { RelayReport } from '../../dialects/relay.ts'
import type { Quantities } from '../../lib/units.ts'
import type { Body, Estimate, Metering, QuotedRequest } from '../../pipeline/metering.ts'
import type { CallRequest } from '../../upstreams/upstream.ts'
import { addMediaUrl, createMeasure } from '../text/billing/measure.ts'
import { refuseMisspelt } from '../text/billing/refuse-misspelt.ts'
import { countInputCeiling } from '../text/billing/text-billing.ts'

/** Reference images may come inside the request. */
const IMAGE_BODY_BYTES_MAX = 32 * 1024 * 1024

export const imageRequest = z.looseObject({
  model: z.string().min(1).describe('From GET /v1/models?type=image.'),
  prompt: z.string().min(1, 'required, and not empty'),
  n: z.int().min(1).max(IMAGES_MAX).nullish().describe('Number of images; 1 by default.'),
  size: z
    .string()
    .max(40)
    .nullish()
    .describe('Such as 1024x1024, 2K or auto; depends on the model.'),
  quality: z.string().max(40).nullish(),
  response_format: z.enum(['url', 'b64_json']).nullish(),
  partial_images: z.int().min(0).max(3).nullish().describe('Previews in a stream.'),
  sequential_image_generation: z
    .enum(['auto', 'disabled'])
    .nullish()
    .describe('auto: the model creates as many as the prompt requires.'),
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

/** Members that bring pictures to work on. */
const PICTURES = ['image', 'images', 'mask', 'reference_images', 'image_urls'] as const
/** Some vendors know a further name for the number of images, and make more. */
const IMAGES_STATED_MOST = 128
/** The dearest picture that any vendor makes, with its previews. */
const TOKENS_PER_IMAGE_MOST = 131_072
/** What models without limits in the catalog are believed to read. */
const INPUT_TOKENS_MAX = 2_000_000

/** The whole body at four bytes a token, without the bytes of pictures. */
function countText(value: Body, bodyBytes: number): number {
  const measure = createMeasure()
  for (const name of PICTURES) {
    const given = value[name]
    for (const one of Array.isArray(given) ? given : [given]) {
      if (one !== undefined && one !== null) addMediaUrl(measure, 'image', one)
    }
  }
  return countInputCeiling(bodyBytes, measure)
}

function quote({ value, body, model }: QuotedRequest): Estimate {
  refuseMisspelt(value)
  const { max_input_tokens: inputMax, max_output_tokens: outputMax } = model.limits
  const image = countImagesMost(value)
  const each = outputMax ?? countTokensMost(value)
  const input = countText(value, body.length)
  return {
    quantities: { image, input_token: input, image_output_token: image * each },
    ceiling: {
      inputTokens: body.length + (inputMax ?? INPUT_TOKENS_MAX),
      outputTokens: IMAGES_STATED_MOST * Math.max(each, TOKENS_PER_IMAGE_MOST),
      others: IMAGES_STATED_MOST,
    },
    dimensions: { alternatives: [readImageFacts(value)], features: [] },
  }
}

/** Without stated usage: the images that were seen, or all of them when the answer is whole. */
function estimate(request: CallRequest, { usage }: RelayReport, complete: boolean): Quantities {
  const image = usage?.image ?? (complete ? countImagesMost(request.value) : 0)
  return {
    image,
    input_token: request.estimateInputTokens(),
    image_output_token: image * countTokensMost(request.value),
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
  inputTokens: countText,
  quote,
  needs: ['image', 'image_output_token'],
  fallback: estimate,
  billsBroken: true,
  passesRefusals: false,
}
