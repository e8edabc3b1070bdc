/** Vendors of many media models, whose APIs are data: fal, Replicate, OpenRouter, any other. */
import { defineUpstream } from '../upstream.ts'
import { formOf } from './presets.ts'
import { mediaSettings } from './settings.ts'
import { mediaVideo } from './video.ts'

export const mediaTasks = defineUpstream({
  name: 'media-tasks',
  settings: mediaSettings,
  secrets: ['api_key'],
  address: (settings) => formOf(settings).baseUrl,
  calls: {},
  tasks: { video: mediaVideo },
})
