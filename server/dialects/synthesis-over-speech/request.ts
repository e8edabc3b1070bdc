/**
 * Translates POST /v1/audio/speech for Doubao speech V3
 * (docs/protocols/volcengine-speech.md#synthesis-request).
 */
import { asString } from '../../lib/json.ts'
import { InvalidRequest } from '../invalid-request.ts'
import { type AudioFormat, readAudioFormat } from '../synthesis/formats.ts'

/** The vendor's formats; a wav is its samples behind the gateway's header. */
const VENDOR_FORMATS: Readonly<Partial<Record<AudioFormat, string>>> = {
  mp3: 'mp3',
  opus: 'ogg_opus',
  wav: 'pcm',
  pcm: 'pcm',
}
export const SAMPLE_RATE = 24_000
const OPUS_SAMPLE_RATE = 48_000
const RATE_MIN = -50
const RATE_MAX = 100

/** Returns the body for the vendor. Throws InvalidRequest for a format that it does not make. */
export function translateSynthesisRequest(value: Readonly<Record<string, unknown>>): Buffer {
  const requestedFormat = readAudioFormat(value)
  const format = VENDOR_FORMATS[requestedFormat]
  if (format === undefined) {
    throw new InvalidRequest('response_format', 'this model makes mp3, opus, wav and pcm')
  }
  const speed = typeof value.speed === 'number' ? value.speed : 1
  const instructions = asString(value.instructions)
  const body = {
    req_params: {
      text: value.input,
      speaker: voiceName(value.voice),
      audio_params: {
        format,
        sample_rate: format === 'ogg_opus' ? OPUS_SAMPLE_RATE : SAMPLE_RATE,
        speech_rate: Math.min(RATE_MAX, Math.max(RATE_MIN, Math.round((speed - 1) * 100))),
      },
      // The vendor takes one text of instructions, does not bill it, and takes JSON as a string.
      ...(instructions ? { additions: JSON.stringify({ context_texts: [instructions] }) } : {}),
    },
  }
  return Buffer.from(JSON.stringify(body))
}

/** Returns the voice's name, or the id where the voice is an object. */
function voiceName(voice: unknown): string {
  if (typeof voice === 'object' && voice !== null && 'id' in voice) return String(voice.id)
  return asString(voice) ?? ''
}
