/** Doubao's recognition of recordings 2.0 (docs/protocols/volcengine-recognition.md). */
import { recordingSettings } from '../recording-settings.ts'
import { SPEECH_SECRETS } from '../speech-credentials.ts'
import { defineUpstream } from '../upstream.ts'
import { doubaoRecognitionDriver } from './recognition.ts'
import { transcription } from './transcription.ts'

export const doubaoRecognition = defineUpstream({
  name: 'doubao-recognition',
  settings: recordingSettings('https://openspeech.bytedance.com'),
  secrets: SPEECH_SECRETS,
  calls: { transcription },
  tasks: { minutes: doubaoRecognitionDriver },
})
