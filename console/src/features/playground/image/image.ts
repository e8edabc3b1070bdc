/** Images, at once or as a task that the gallery keeps. */

import { given, numberOf } from '../frame/call/order.ts'
import type { Capability, PlaygroundModel } from '../frame/capability.ts'
import { readTaskId } from '../frame/task/task-progress.tsx'
import { Drawn } from './drawn.tsx'
import { ImageFields } from './fields.tsx'

export const AT_ONCE = '/v1/images/generations'
export const AS_TASK = '/v1/images/async'

export interface ImageValues {
  readonly path: string
  readonly prompt: string
  readonly count: number | string
  readonly size: string
  readonly quality: string
  readonly format: string
}

interface Picture {
  readonly url?: string
  readonly b64_json?: string
  readonly revised_prompt?: string
}

export interface ImageResult {
  readonly pictures: readonly Picture[]
  readonly taskId?: string
}

export function imagePath({ endpoints }: PlaygroundModel, { path }: ImageValues): string {
  return endpoints.includes(path) ? path : AT_ONCE
}

export const image: Capability<ImageValues, ImageResult> = {
  initial: {
    path: AT_ONCE,
    prompt: 'A river at dawn, in ink, with one small boat',
    count: 1,
    size: '',
    quality: '',
    format: 'b64_json',
  },
  toOrder: (model, values) => {
    const { prompt, count, size, quality, format } = values
    if (prompt.trim() === '') return undefined
    const path = imagePath(model, values)
    return {
      path,
      body: given({
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
    const { data }: { readonly data: readonly Picture[] } = await response.json()
    return { pictures: data }
  },
  Fields: ImageFields,
  Result: Drawn,
}
