// Refusals of the speech product, and the voice requested.
import { isInteger, isNumber, isObject, type Json, objects, text } from '../kernel/checks.ts'
import type { Voice } from './audio/render.ts'
import { refused } from './errors.ts'

export interface SpeechRequest {
  /** The billed text: the text, or the SSML without its tags. */
  billedText: string
  voice: Voice
  subtitles: boolean
}

const RATES = [8000, 16000, 22050, 24000, 32000, 44100, 48000]
const FORMATS = ['mp3', 'ogg_opus', 'pcm', 'wav'] as const
const DIALECTS = ['dongbei', 'shaanxi', 'sichuan']
const MODELS = ['seed-tts-2.0-standard', 'seed-tts-2.0-expressive']

type Generation = '1.0' | '2.0' | 'icl-1.0' | 'icl-2.0'

function generationOf(resource: string): Generation {
  if (resource.startsWith('seed-icl-2')) return 'icl-2.0'
  if (resource.startsWith('seed-icl-1')) return 'icl-1.0'
  return resource.startsWith('seed-tts-2') ? '2.0' : '1.0'
}

export function readSpeech(json: unknown, resource: string, maxCharacters: number): SpeechRequest {
  const parameters = isObject(json) ? json.req_params : undefined
  if (!isObject(parameters)) throw refused(45000001, 'invalid argument: req_params is required')
  const generation = generationOf(resource)
  checkSpeaker(parameters, generation)
  const ssml = text(parameters.ssml)
  const billedText = ssml === '' ? text(parameters.text) : ssml.replace(/<[^>]*>/g, '')
  if (!/[\p{L}\p{N}]/u.test(billedText)) throw refused(45002001, 'no readable text')
  if ([...billedText].length > maxCharacters) {
    throw refused(40402003, 'TTSExceededTextLimit: the text is too long')
  }
  const additions = readAdditions(parameters.additions)
  const audio = readAudio(parameters)
  const subtitleSetting = generation.endsWith('2.0')
    ? audio.enable_subtitle
    : audio.enable_timestamp
  const silenced = ssml !== '' || isObject(additions.cache_config) || additions.enable_latex_tn
  const voice = readVoice(audio, additions)
  return { billedText, voice, subtitles: subtitleSetting === true && !silenced }
}

/** Reads the audio parameters, which the vendor requires; those beside `req_params` are unknown. */
function readAudio({ audio_params: audio }: Json): Json {
  if (!isObject(audio)) throw refused(45000001, 'invalid argument: audio_params')
  return audio
}

const ENDINGS: Record<Generation, RegExp> = {
  '1.0': /(_moon_bigtts|_mars_bigtts|^custom_mix_bigtts)$/,
  '2.0': /_uranus_bigtts$/,
  'icl-1.0': /^(S_|icl_)/,
  'icl-2.0': /^(S_|icl_)/,
}

function checkSpeaker(parameters: Json, generation: Generation): void {
  const { speaker, mix_speaker: mix, model } = parameters
  if (speaker === undefined || speaker === '') throw refused(45002000, 'speaker is empty')
  if (typeof speaker !== 'string') throw refused(45000001, 'invalid argument: speaker')
  if (!Object.values(ENDINGS).some((ending) => ending.test(speaker))) {
    throw refused(45000001, `invalid argument: speaker ${speaker} not found`)
  }
  if (!ENDINGS[generation].test(speaker)) {
    throw refused(55000000, 'resource ID is mismatched with speaker related resource')
  }
  if (model !== undefined && model !== '' && !MODELS.includes(String(model))) {
    throw refused(45000001, `InvalidModel: ${String(model)}`)
  }
  if (speaker !== 'custom_mix_bigtts') return
  const speakers = isObject(mix) ? objects(mix.speakers) : []
  const sum = speakers.reduce((total, one) => total + Number(one.mix_factor), 0)
  if (speakers.length < 1 || speakers.length > 3 || Math.abs(sum - 1) > 0.001) {
    throw refused(45000001, 'invalid argument: mix_speaker needs up to 3 speakers that sum to 1')
  }
}

/** Reads a JSON object serialised as a string; an object is refused, as the vendor refuses it. */
function readAdditions(additions: unknown): Json {
  if (additions === undefined || additions === '') return {}
  if (typeof additions !== 'string') {
    throw refused(45000001, 'invalid argument: additions must be a string')
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(additions)
  } catch {
    throw refused(45000001, 'invalid argument: additions is not valid JSON')
  }
  if (!isObject(parsed)) throw refused(45000001, 'invalid argument: additions is not an object')
  const { silence_duration: silence, explicit_dialect: dialect, context_texts: texts } = parsed
  if (silence !== undefined && !isInteger(Number(silence), 0, 30_000)) {
    throw refused(45000001, 'invalid argument: silence_duration')
  }
  if (dialect !== undefined && !DIALECTS.includes(String(dialect))) {
    throw refused(45000001, `InvalidDialect: ${String(dialect)}`)
  }
  if (texts !== undefined && !(Array.isArray(texts) && texts.every((one) => text(one) !== ''))) {
    throw refused(45000001, 'invalid argument: context_texts')
  }
  return parsed
}

function readVoice(audio: Json, additions: Json): Voice {
  const { sample_rate: rate = 24000, bit_rate: bitRate } = audio
  const format = FORMATS.find((one) => one === (audio.format ?? 'mp3'))
  if (!format) throw refused(45000001, 'invalid argument: format')
  if (!RATES.includes(Number(rate))) throw refused(45000001, 'invalid argument: sample_rate')
  const free = additions.disable_default_bit_rate === true
  if (bitRate !== undefined && !free && !isInteger(bitRate, 64_000, 160_000)) {
    throw refused(45000001, 'invalid argument: bit_rate')
  }
  for (const key of ['speech_rate', 'loudness_rate']) {
    if (audio[key] === undefined || isInteger(audio[key], -50, 100)) continue
    throw refused(45000001, `invalid argument: ${key}`)
  }
  if (audio.emotion_scale !== undefined && !isNumber(audio.emotion_scale, 1, 5)) {
    throw refused(45000001, 'invalid argument: emotion_scale')
  }
  return {
    format,
    sampleRate: format === 'ogg_opus' ? 48_000 : Number(rate),
    bitRate: Number(bitRate ?? 64_000),
    speed: 1 + Number(audio.speech_rate ?? 0) / 100,
    silenceMs: Number(additions.silence_duration ?? 0),
  }
}
