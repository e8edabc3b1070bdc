/** POST /v1/images/edits and /v1/images/variations, as forms or as JSON. */
import type { MeteredEndpoint } from '../endpoint.ts'
import { editMetering, variationMetering } from './edit-request.ts'
import { imageAnswer } from './image-request.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='
const PICTURE = `data:image/png;base64,${PIXEL}`
const ANSWER = {
  created: 1_795_253_400,
  data: [{ url: 'https://media.example/image.png' }],
}

export const imageEdits: MeteredEndpoint = {
  kind: 'metered',
  method: 'POST',
  paths: ['/v1/images/edits'],
  envelope: 'nested',
  metering: editMetering,
  documentation: {
    summary: 'Edit images',
    description:
      'As JSON, or as multipart/form-data with up to 16 files `image[]` and one `mask`, at most ' +
      '32 MiB. Fields that are not listed are passed to the model. Some models take the ' +
      'pictures as references, and refuse a mask by name. Held and charged like POST ' +
      '/v1/images/generations, with the pictures as input.',
    tag: 'Images',
    answer: imageAnswer,
    stream: {
      type: 'text/event-stream',
      description: 'With stream: true: image_edit.partial_image and image_edit.completed.',
    },
    example: (model) => ({
      body: { model, prompt: 'Add a boat.', image: PICTURE },
      answer: ANSWER,
    }),
  },
}

export const imageVariations: MeteredEndpoint = {
  kind: 'metered',
  method: 'POST',
  paths: ['/v1/images/variations'],
  envelope: 'nested',
  metering: variationMetering,
  documentation: {
    summary: 'Create variations of an image',
    description: 'As JSON, or as multipart/form-data with one file `image`.',
    tag: 'Images',
    answer: imageAnswer,
    example: (model) => ({ body: { model, image: PICTURE, n: 1 }, answer: ANSWER }),
  },
}
