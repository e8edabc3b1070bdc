/** Kuaishou's video models, in both generations of the vendor's protocol. */
import { defineUpstream } from '../upstream.ts'
import { klingSettings } from './settings.ts'
import { klingVideo, probeKling } from './video.ts'

export const kling = defineUpstream({
  name: 'kling',
  settings: klingSettings,
  secrets: ['api_key', 'access_key', 'secret_key'],
  probe: probeKling,
  calls: {},
  tasks: { video: klingVideo },
})
