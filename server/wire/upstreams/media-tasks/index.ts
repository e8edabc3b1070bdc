/** Vendors of many media models, whose APIs are data: fal, Replicate, OpenRouter, any other. */
import { defineUpstream } from '../upstream.ts'
import { formOf } from './presets.ts'
import { mediaSettings } from './settings.ts'
import { mediaVideo, probeMedia } from './video.ts'

export const mediaTasks = defineUpstream({
  name: 'media-tasks',
  settings: mediaSettings,
  secrets: ['api_key'],
  probe: probeMedia,
  address: (settings) => formOf(settings).baseUrl,
  calls: {},
  tasks: { video: mediaVideo },
})
