/** The fields of the form, and what depends on them alone. */
import type { PlaygroundModel } from '../frame/capability.ts'

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

export interface GeneratedPicture {
  readonly url?: string
  readonly b64_json?: string
  readonly revised_prompt?: string
}

export interface ImageResult {
  readonly pictures: readonly GeneratedPicture[]
  readonly taskId?: string
}

export function imagePath({ endpoints }: PlaygroundModel, { path }: ImageValues): string {
  return endpoints.includes(path) ? path : AT_ONCE
}
