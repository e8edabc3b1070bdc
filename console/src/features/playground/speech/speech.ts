/** Speech: the vendor's native stream of lines, or the dialect of the SDKs. */

import type { Capability, PlaygroundModel } from '../frame/capability.ts'
import { dropEmpty, numberOf, type PlaygroundRequest } from '../frame/order.ts'
import { SpeechFields } from './fields.tsx'
import { GeneratedSpeech } from './generated-speech.tsx'
import { readSpeech, type SpeechResult } from './read-speech.ts'
import { chosenFormat, NATIVE, type SpeechValues, speechPath, voicesOf } from './values.ts'

/** Converts a speed to the native rate: 1.2 becomes 20. */
function toRate(factor: number | string): number | undefined {
  const rate = Math.round(((numberOf(factor) ?? 1) - 1) * 100)
  return rate === 0 ? undefined : rate
}

function toNative(model: PlaygroundModel, values: SpeechValues, voice: string): PlaygroundRequest {
  const { text, speed, loudness, context, hasTimes } = values
  return {
    path: NATIVE,
    query: { model: model.id },
    body: {
      req_params: dropEmpty({
        text,
        speaker: voice,
        audio_params: dropEmpty({
          format: chosenFormat(NATIVE, values),
          speech_rate: toRate(speed),
          loudness_rate: toRate(loudness),
          enable_subtitle: hasTimes ? true : undefined,
        }),
        additions: context ? JSON.stringify({ context_texts: [context] }) : undefined,
      }),
    },
  }
}

function toSynthesis(
  model: PlaygroundModel,
  values: SpeechValues,
  voice: string,
  path: string,
): PlaygroundRequest {
  const { text, speed, context } = values
  const factor = numberOf(speed)
  return {
    path,
    body: dropEmpty({
      model: model.id,
      input: text,
      voice,
      response_format: chosenFormat(path, values),
      speed: factor === 1 ? undefined : factor,
      instructions: context,
    }),
  }
}

export const speech: Capability<SpeechValues, SpeechResult> = {
  initial: {
    path: NATIVE,
    text: '',
    voice: '',
    format: 'mp3',
    speed: 1,
    loudness: 1,
    context: '',
    hasTimes: false,
  },
  samples: {
    text: ['All rivers run into the sea, yet the sea is not full.', '江河都往海里流，海却不满。'],
  },
  toOrder: (model, values) => {
    if (values.text.trim() === '') return undefined
    const path = speechPath(model, values)
    const voice = values.voice || (voicesOf(model)[0] ?? '')
    return path === NATIVE
      ? toNative(model, values, voice)
      : toSynthesis(model, values, voice, path)
  },
  read: readSpeech,
  Fields: SpeechFields,
  Result: GeneratedSpeech,
}
