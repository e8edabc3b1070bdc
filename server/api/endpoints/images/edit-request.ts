/** The requests of image edits and variations: their shape, and their quote. */
import { z } from 'zod'
import type { Estimate, Metering, QuotedRequest } from '../../../work/pipeline/metering.ts'
import { imageMetering, imageRequest } from './image-request.ts'
import { readPictureForm } from './picture-form.ts'

/** Forms are read into memory, and their pictures written as base64. */
const FORM_BYTES_MAX = 32 * 1024 * 1024
const PICTURES_MAX = 16
/** Tokens of an input picture at the highest fidelity, beyond those that every picture counts. */
const FIDELITY_TOKENS = 6_000

const reference = z.looseObject({
  image_url: z.string().min(1).nullish().describe('A data URL, or one that the vendor fetches.'),
  file_id: z.string().min(1).nullish().describe('A file at the vendor.'),
})

const pictures = z
  .union([z.string().min(1), z.array(z.string().min(1)).min(1).max(PICTURES_MAX)], {
    error: `a picture, or a list of at most ${PICTURES_MAX}`,
  })
  .nullish()
  .describe('Data URLs or URLs; in a form, one file `image` or several `image[]`.')

const editRequest = imageRequest
  .extend({
    image: pictures,
    images: z
      .array(reference)
      .min(1)
      .max(PICTURES_MAX)
      .nullish()
      .describe('Instead of `image`, in JSON.'),
    mask: z
      .union([z.string().min(1), reference], { error: 'a picture' })
      .nullish()
      .describe('Transparent where the image should change.'),
  })
  .refine(({ image, images }) => Boolean(image ?? images), { path: ['image'], error: 'required' })
  .refine(({ image, images }) => !(image && images), {
    path: ['images'],
    error: 'has the same meaning as `image`: send one of them',
  })

const variationRequest = imageRequest
  .omit({ prompt: true, partial_images: true, stream: true })
  .extend({
    image: z.string({ error: 'required: one picture' }).min(1).describe('A data URL, or a file.'),
  })

function countPictures({ image, images, mask }: QuotedRequest['value']): number {
  return [image, images, mask].flat().filter((one) => one !== undefined && one !== null).length
}

/** Adds what the pictures may count as input. */
function quote(request: QuotedRequest): Estimate {
  const estimate = imageMetering.quote(request)
  const { image_input_token: input = 0 } = estimate.quantities
  const pictureTokens = countPictures(request.value) * FIDELITY_TOKENS
  return {
    ...estimate,
    quantities: { ...estimate.quantities, image_input_token: input + pictureTokens },
  }
}

export const editMetering: Metering = {
  ...imageMetering,
  endpoint: 'images.edits',
  operation: 'image-edit',
  bodyBytesMax: FORM_BYTES_MAX,
  fromForm: readPictureForm,
  schema: editRequest,
  quote,
}

export const variationMetering: Metering = {
  ...editMetering,
  endpoint: 'images.variations',
  operation: 'image-variation',
  schema: variationRequest,
  streams: () => false,
}
