/** Doubao's minutes of a recording (upstreams.md 2). */
import { RECORDING_SECRETS, recordingSettings } from '../recording-settings.ts'
import { defineUpstream } from '../upstream.ts'
import { doubaoMinutesDriver } from './minutes.ts'

export const doubaoMinutes = defineUpstream({
  name: 'doubao-minutes',
  settings: recordingSettings('https://openspeech.bytedance.com'),
  secrets: RECORDING_SECRETS,
  calls: {},
  tasks: { minutes: doubaoMinutesDriver },
})
