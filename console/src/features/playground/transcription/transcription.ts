/** Transcription: a recording as text or subtitles. */

import type { Capability } from '../frame/capability.ts'
import { dropEmpty } from '../frame/order.ts'
import { TranscriptionFields } from './fields.tsx'
import { TranscriptionPanel } from './transcript.tsx'
import type { ShownSegment, TranscriptionResult, TranscriptionValues } from './values.ts'

interface Answer {
  readonly text?: string
  readonly segments?: readonly ShownSegment[]
}

export const transcription: Capability<TranscriptionValues, TranscriptionResult> = {
  initial: { file: undefined, language: '', prompt: '', format: 'json' },
  toOrder: ({ id: model }, { file, language, prompt, format }) => {
    if (!file) return undefined
    return {
      path: '/v1/audio/transcriptions',
      body: dropEmpty({ model, language: language.trim(), prompt, response_format: format }),
      file,
    }
  },
  read: async (response, _reading, { body }) => {
    const isJson = String(body.response_format).endsWith('json')
    if (!isJson) return { text: await response.text(), segments: [] }
    const { text = '', segments = [] }: Answer = await response.json()
    return { text, segments }
  },
  Fields: TranscriptionFields,
  Result: TranscriptionPanel,
}
