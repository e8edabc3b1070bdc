/** Volcengine's AI MediaKit, of which the erasure of subtitles is used. */
import { defineUpstream } from '../upstream.ts'
import { mediakitErase } from './erase.ts'
import { mediakitSettings } from './settings.ts'

export const mediakit = defineUpstream({
  name: 'mediakit',
  settings: mediakitSettings,
  secrets: ['api_key'],
  calls: {},
  tasks: { erase: mediakitErase },
})
