/** Video: a task with every field that its models know. */

import { given, type Json, numberOf } from '../frame/call/order.ts'
import type { Capability } from '../frame/capability.ts'
import { readTaskId } from '../frame/task/task-progress.tsx'
import { VideoFields } from './fields.tsx'
import { Film } from './film.tsx'

export const ROLES = [
  ...(['first_frame', 'last_frame', 'reference_image'] as const),
  ...(['reference_video', 'reference_audio'] as const),
]
export type ReferenceRole = (typeof ROLES)[number]

export interface Reference {
  readonly id: number
  readonly role: ReferenceRole
  readonly url: string
}

export interface VideoValues {
  readonly prompt: string
  readonly references: readonly Reference[]
  /** Empty texts: the model's own. */
  readonly resolution: string
  readonly ratio: string
  readonly tier: string
  readonly duration: number | string
  readonly seed: number | string
  readonly hasSound: boolean
  readonly hasLastFrame: boolean
  readonly isStill: boolean
  readonly hasWatermark: boolean
  readonly callback: string
  readonly endUser: string
}

const TYPES: Readonly<Record<ReferenceRole, 'image_url' | 'video_url' | 'audio_url'>> = {
  first_frame: 'image_url',
  last_frame: 'image_url',
  reference_image: 'image_url',
  reference_video: 'video_url',
  reference_audio: 'audio_url',
}

function contentOf({ prompt, references }: VideoValues): Json[] {
  const text = prompt.trim() === '' ? [] : [{ type: 'text', text: prompt }]
  const media = references
    .filter(({ url }) => url !== '')
    .map(({ role, url }) => ({ type: TYPES[role], [TYPES[role]]: { url }, role }))
  return [...text, ...media]
}

export const video: Capability<VideoValues, string> = {
  initial: {
    prompt: 'A river at dawn, seen from a slow boat',
    references: [],
    duration: 5,
    seed: '',
    resolution: '',
    ratio: '',
    tier: '',
    callback: '',
    endUser: '',
    hasSound: true,
    hasLastFrame: false,
    isStill: false,
    hasWatermark: false,
  },
  toOrder: ({ id: model }, values) => {
    const content = contentOf(values)
    if (content.length === 0) return undefined
    return {
      path: '/v1/videos/generations',
      body: given({
        model,
        content,
        resolution: values.resolution,
        ratio: values.ratio,
        service_tier: values.tier,
        duration: numberOf(values.duration),
        seed: numberOf(values.seed),
        generate_audio: values.hasSound ? undefined : false,
        return_last_frame: values.hasLastFrame || undefined,
        camera_fixed: values.isStill || undefined,
        watermark: values.hasWatermark || undefined,
        callback_url: values.callback.trim(),
        safety_identifier: values.endUser.trim(),
      }),
    }
  },
  read: readTaskId,
  Fields: VideoFields,
  Result: Film,
}
