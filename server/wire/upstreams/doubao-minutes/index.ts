/** Doubao's minutes of a recording (docs/protocols/volcengine-minutes.md). */
import { recordingSettings } from '../recording-settings.ts'
import { SPEECH_SECRETS } from '../speech-credentials.ts'
import { defineUpstream } from '../upstream.ts'
import { doubaoMinutesDriver } from './minutes.ts'

export const doubaoMinutes = defineUpstream({
  name: 'doubao-minutes',
  settings: recordingSettings('https://openspeech.bytedance.com'),
  secrets: SPEECH_SECRETS,
  calls: {},
  tasks: { minutes: doubaoMinutesDriver },
})
