/** The native task protocol of Volcengine's and BytePlus's ARK platform. */
import { defineUpstream } from '../upstream.ts'
import { arkSettings } from './settings.ts'
import { arkVideo } from './video.ts'

export const ark = defineUpstream({
  name: 'ark',
  settings: arkSettings,
  secrets: ['api_key'],
  calls: {},
  tasks: { video: arkVideo },
})
