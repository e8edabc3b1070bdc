/** Images, at once or as a task that the gallery keeps. */

import type { Capability } from '../frame/capability.ts'
import { dropEmpty, numberOf } from '../frame/order.ts'
import { readTaskId } from '../frame/task/task-progress.tsx'
import { ImageFields } from './fields.tsx'
import { GeneratedImages } from './generated-images.tsx'
import {
  AS_TASK,
  AT_ONCE,
  type GeneratedPicture,
  type ImageResult,
  type ImageValues,
  imagePath,
} from './values.ts'

export const image: Capability<ImageValues, ImageResult> = {
  initial: {
    path: AT_ONCE,
    prompt: '',
    count: 1,
    size: '',
    quality: '',
    format: 'b64_json',
  },
  samples: {
    prompt: ['A river at dawn, in ink, with one small boat', '黎明的江面，一叶小舟，水墨画'],
  },
  toOrder: (model, values) => {
    const { prompt, count, size, quality, format } = values
    if (prompt.trim() === '') return undefined
    const path = imagePath(model, values)
    return {
      path,
      body: dropEmpty({
        model: model.id,
        prompt,
        n: numberOf(count),
        size,
        quality,
        response_format: path === AT_ONCE ? format : undefined,
      }),
    }
  },
  read: async (response, _reading, { path }) => {
    if (path === AS_TASK) return { pictures: [], taskId: await readTaskId(response) }
    const { data }: { readonly data: readonly GeneratedPicture[] } = await response.json()
    return { pictures: data }
  },
  Fields: ImageFields,
  Result: GeneratedImages,
}
