/** POST /v1/images/generations: OpenAI's image dialect, billed by images or by tokens. */
import type { MeteredEndpoint } from '../endpoint.ts'
import { imageAnswer, imageMetering } from './image-request.ts'

export const imageGenerations: MeteredEndpoint = {
  kind: 'metered',
  method: 'POST',
  paths: ['/v1/images/generations'],
  envelope: 'nested',
  metering: imageMetering,
  documentation: {
    summary: 'Make images',
    description:
      'Fields that are not listed pass to the model as they are. The most that the request can ' +
      'come to is frozen, and what was really made is charged: by image or by token, as the ' +
      'model’s prices say. With stream: true, from models that can, images come as events.',
    tag: 'Images',
    answer: imageAnswer,
    stream: {
      type: 'text/event-stream',
      description:
        'Previews and images as they are made: image_generation.partial_image, ' +
        'image_generation.partial_succeeded, and image_generation.completed with the usage.',
    },
    example: (model) => ({
      body: { model, prompt: 'A river at dawn, in ink.', n: 1 },
      answer: {
        created: 1_795_253_400,
        data: [{ url: 'https://media.example/image.png' }],
      },
    }),
    errors: [400, 402, 403, 404, 409, 413, 415, 422, 429, 502, 503],
  },
}
