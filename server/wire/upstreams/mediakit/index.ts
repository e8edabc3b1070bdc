/** Volcengine's AI MediaKit: subtitle erase. */
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
