/** The request of both image endpoints: its shape, and its quote. */
import { z } from 'zod'
import { isObject, member } from '../../../base/lib/json.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import {
  countImagesMost,
  countTokensMost,
  IMAGES_MAX,
  IMAGES_STATED_MAX,
  readImageFacts,
} from '../../../wire/dialects/images/read-request.ts'
import type { RelayReport } from '../../../wire/dialects/relay.ts'
import type { CallRequest } from '../../../wire/upstreams/upstream.ts'
import type { Body, Estimate, Metering, QuotedRequest } from '../../../work/pipeline/metering.ts'
import { refuseUnreadable } from '../../../work/pipeline/price/refuse-unreadable.ts'
import { listSpellings, refuseOtherCase } from '../../../work/pipeline/request/spellings.ts'
import { addMediaUrl, createMeasure, type Measure } from '../text/billing/measure.ts'
import { readToolFeatures } from '../text/billing/priced-options.ts'
import { refuseMisspelt } from '../text/billing/refuse-misspelt.ts'
import { countInputCeiling, hasOnly } from '../text/billing/text-billing.ts'
import { findReferences } from '../text/references/find-references.ts'
import { refuseOtherSizes } from './refuse-other-sizes.ts'

/** Requests may contain reference images. */
const IMAGE_BODY_BYTES_MAX = 64 * 1024 * 1024

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

/** Members with input images. */
const PICTURES = ['image', 'images', 'mask', 'reference_images', 'image_urls'] as const
/** Tokens of the largest image of any vendor, with its previews. */
const TOKENS_PER_IMAGE_MAX = 131_072
/** Ceiling of the input for models without limits in the catalog. */
const INPUT_TOKENS_MAX = 2_000_000

function measurePictures(value: Body): Measure {
  const measure = createMeasure()
  for (const name of PICTURES) {
    const media = value[name]
    for (const one of Array.isArray(media) ? media : [media]) {
      if (one === undefined || one === null) continue
      addMediaUrl(measure, 'image', member(one, 'image_url') ?? one)
    }
  }
  return measure
}

/** Estimates the text of the body at four bytes for each token, and the pictures. */
function countInput(value: Body, bodyBytes: number): number {
  return countInputCeiling(bodyBytes, measurePictures(value))
}

/** Members that are no number of images under another name. */
const KNOWN: ReadonlySet<string> = new Set([
  ...Object.keys(imageRequest.shape),
  ...PICTURES,
  ...`background guidance_scale input_fidelity moderation negative_prompt optimize_prompt_options
  output_compression output_format prompt_extend sample_strength seed steps style thinking_mode
  tools user watermark`.split(/\s+/),
])
/** Some models make as many as this, whatever number is requested. */
const IMAGES_LEAST = 4

/** Returns the most images that an answer to the request may state. */
function boundImages(value: Body): number {
  return hasOnly(value, KNOWN) ? Math.max(countImagesMost(value), IMAGES_LEAST) : IMAGES_STATED_MAX
}

const OPTIONS = 'sequential_image_generation_options'
const OPTION_SPELLINGS = listSpellings(['max_images'])

function refuseMisspeltOptions({ [OPTIONS]: options }: Body): void {
  if (isObject(options)) refuseOtherCase(options, OPTION_SPELLINGS, OPTIONS)
}

function quote(request: QuotedRequest): Estimate {
  const { value, body, model } = request
  refuseMisspelt(value)
  refuseMisspeltOptions(value)
  refuseUnreadable(model, value)
  refuseOtherSizes(request)
  const { max_input_tokens: inputMax, max_output_tokens: outputMax } = model.limits
  const image = countImagesMost(value)
  const most = boundImages(value)
  const each = outputMax ?? countTokensMost(value)
  const measure = measurePictures(value)
  const input = countInputCeiling(body.length, measure)
  return {
    quantities: {
      image,
      input_token: input - measure.mediaTokens,
      // Some vendors bill pictures at a higher price than text.
      image_input_token: measure.mediaTokens,
      image_output_token: image * each,
    },
    ceiling: {
      inputTokens: body.length + (inputMax ?? INPUT_TOKENS_MAX),
      outputTokens: most * Math.max(each, TOKENS_PER_IMAGE_MAX),
      units: { image: most },
      others: IMAGES_STATED_MAX,
    },
    dimensions: { alternatives: [readImageFacts(value)], features: readToolFeatures(value) },
  }
}

/**
 * Estimates usage that was not stated: the images delivered, or all requested ones if the answer is
 * complete.
 */
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
  names: { find: (value) => findReferences(value) },
  model: ({ value }) => value.model as string,
  streams: (value: Body) => value.stream === true,
  inputTokens: countInput,
  quote,
  needs: ['image', 'input_token', 'image_output_token'],
  fallback: estimate,
  billsBroken: true,
  passesRefusals: false,
}
