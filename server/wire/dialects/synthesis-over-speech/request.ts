/**
 * Translates POST /v1/audio/speech for Doubao speech V3
 * (docs/protocols/volcengine-speech.md#synthesis-request).
 */
import { asString, isObject, printValue } from '../../../base/lib/json.ts'
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

/** Fields that are translated, or that concern the answer: it is a stream in any case. */
const TAKEN: ReadonlySet<string> = new Set([
  'model',
  'input',
  'voice',
  'response_format',
  'speed',
  'stream_format',
  'instructions',
  'stream',
  'user',
])

/** Throws InvalidRequest for a field that the translation would drop. */
function refuseUntaken(value: Readonly<Record<string, unknown>>): void {
  const { user, voice, stream } = value
  const name = Object.keys(value).find((one) => !TAKEN.has(one))
  if (name !== undefined) throw new InvalidRequest(name, 'this model does not take it')
  const inside = isObject(voice) ? Object.keys(voice).find((one) => one !== 'id') : undefined
  if (inside) throw new InvalidRequest(`voice.${inside}`, 'this model does not take it')
  if (!['string', 'undefined'].includes(typeof user)) {
    throw new InvalidRequest('user', 'must be a string')
  }
  if (!['boolean', 'undefined'].includes(typeof stream)) {
    throw new InvalidRequest('stream', 'must be true or false')
  }
}

/**
 * Returns the body for the vendor. Throws InvalidRequest for a format that it does not make, and
 * for fields that it does not take.
 */
export function translateSynthesisRequest(value: Readonly<Record<string, unknown>>): Buffer {
  refuseUntaken(value)
  const requestedFormat = readAudioFormat(value)
  const format = VENDOR_FORMATS[requestedFormat]
  if (format === undefined) {
    throw new InvalidRequest('response_format', 'this model makes mp3, opus, wav and pcm')
  }
  const speed = typeof value.speed === 'number' ? value.speed : 1
  const instructions = asString(value.instructions)
  const body = {
    ...(value.user === undefined ? {} : { user: { uid: value.user } }),
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
  if (typeof voice === 'object' && voice !== null && 'id' in voice) return printValue(voice.id)
  return asString(voice) ?? ''
}
