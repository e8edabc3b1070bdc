/** POST /v1/images/generations: OpenAI's image dialect, billed by images or by tokens. */
import type { MeteredEndpoint } from '../endpoint.ts'
import { onEveryPrefix } from '../native-prefixes.ts'
import { imageAnswer, imageMetering } from './image-request.ts'

export const imageGenerations: MeteredEndpoint = {
  kind: 'metered',
  method: 'POST',
  paths: onEveryPrefix('/images/generations'),
  envelope: 'nested',
  metering: imageMetering,
  documentation: {
    summary: 'Create images',
    description:
      'Fields that are not listed are passed to the model unchanged. The hold is the most that ' +
      'the request can cost; the charge is by the images or tokens actually produced, ' +
      'depending on the model’s prices. With stream: true, models that support it send images ' +
      'as events.',
    tag: 'Images',
    answer: imageAnswer,
    stream: {
      type: 'text/event-stream',
      description:
        'Previews and images as they are generated: image_generation.partial_image, ' +
        'image_generation.partial_succeeded, and image_generation.completed with the usage.',
    },
    example: (model) => ({
      body: { model, prompt: 'A river at dawn, in ink.', n: 1 },
      answer: {
        created: 1_795_253_400,
        data: [{ url: 'https://media.example/image.png' }],
      },
    }),
  },
}
