/** Video: a task with every field that its models support. */

import type { Capability } from '../frame/capability.ts'
import { dropEmpty, type Json, numberOf } from '../frame/order.ts'
import { readTaskId } from '../frame/task/task-progress.tsx'
import { VideoFields } from './fields.tsx'
import { Film } from './film.tsx'
import { onlyTaken } from './taken.ts'
import type { ReferenceRole, VideoValues } from './values.ts'

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
    prompt: '',
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
  samples: {
    prompt: ['A river at dawn, seen from a slow boat', '黎明的江面，从缓行的小船上望去'],
  },
  toOrder: (model, values) => {
    const content = contentOf(values)
    if (content.length === 0) return undefined
    return {
      path: '/v1/videos/generations',
      body: dropEmpty({
        model: model.id,
        content,
        resolution: onlyTaken(model, 'resolution', values.resolution),
        ratio: onlyTaken(model, 'ratio', values.ratio),
        service_tier: onlyTaken(model, 'service_tier', values.tier),
        duration: onlyTaken(model, 'duration', numberOf(values.duration)),
        seed: onlyTaken(model, 'seed', numberOf(values.seed)),
        generate_audio: onlyTaken(model, 'generate_audio', values.hasSound ? undefined : false),
        return_last_frame: onlyTaken(model, 'return_last_frame', values.hasLastFrame || undefined),
        camera_fixed: onlyTaken(model, 'camera_fixed', values.isStill || undefined),
        watermark: onlyTaken(model, 'watermark', values.hasWatermark || undefined),
        callback_url: values.callback.trim(),
        safety_identifier: values.endUser.trim(),
      }),
    }
  },
  read: readTaskId,
  Fields: VideoFields,
  Result: Film,
}
