/**
 * Translates POST /v1/audio/transcriptions for recognition 2.0
 * (docs/protocols/volcengine-recognition.md#submission).
 */
import { asString, type JsonObject } from '../../../base/lib/json.ts'
import { mainLanguage } from '../../../base/lib/text/fold-language.ts'
import { InvalidRequest } from '../invalid-request.ts'
import { nameRecording } from '../transcription/measure-audio.ts'

/** Languages that the vendor recognises without a parameter, as it does English. */
const NATIVE = ['zh', 'yue', 'wuu', 'nan']
const LANGUAGES: Readonly<Record<string, string>> = {
  en: 'en-US',
  ja: 'ja-JP',
  id: 'id-ID',
  es: 'es-MX',
  pt: 'pt-BR',
  de: 'de-DE',
  fr: 'fr-FR',
  ko: 'ko-KR',
  fil: 'fil-PH',
  tl: 'fil-PH',
  ms: 'ms-MY',
  th: 'th-TH',
  ar: 'ar-SA',
}

const FORMATS: Readonly<Record<string, JsonObject>> = {
  'audio.wav': { format: 'wav' },
  'audio.mp3': { format: 'mp3' },
  'audio.ogg': { format: 'ogg', codec: 'opus' },
}

/**
 * Returns a file name for the format. Throws InvalidRequest for one that the vendor does not take.
 */
export function checkRecording(head: Buffer): string {
  const name = nameRecording(head)
  if (name && FORMATS[name]) return name
  throw new InvalidRequest('file', `this model takes wav, mp3 and Ogg Opus; ${describe(head)}`)
}

function describe(head: Buffer): string {
  const name = nameRecording(head)
  if (name) return `found ${name.replace('audio.', '')}`
  return head.length === 0 ? 'found an empty file' : 'found no known audio format'
}

/**
 * Returns the body without its audio. Throws InvalidRequest for a language that is not supported,
 * and for fields that the vendor does not take.
 */
export function translateTranscriptionRequest(
  value: Readonly<Record<string, unknown>>,
  name: string,
): { readonly audio: JsonObject; readonly request: JsonObject } {
  refuseUntaken(value)
  const language = readLanguage(asString(value.language))
  const prompt = asString(value.prompt)?.trim()
  return {
    audio: { ...FORMATS[name], ...(language ? { language } : {}) },
    request: {
      model_name: 'bigmodel',
      enable_itn: true,
      enable_punc: true,
      show_utterances: true,
      ...(prompt ? { corpus: { context: writeContext(prompt) } } : {}),
    },
  }
}

/** Fields that are translated, or that only shape the answer. */
const TAKEN: ReadonlySet<string> = new Set([
  'model',
  'language',
  'prompt',
  'response_format',
  'timestamp_granularities[]',
  'stream',
])

/** The vendor has no temperature: like the temperature 0, it takes the likeliest words. */
function refuseUntaken(value: Readonly<Record<string, unknown>>): void {
  for (const [name, text] of Object.entries(value)) {
    if (name === 'response_format' && text === 'diarized_json') {
      throw new InvalidRequest(name, 'this model does not tell speakers apart')
    }
    if (TAKEN.has(name)) continue
    const isLikeliest = name === 'temperature' && Number(text) === 0
    if (!isLikeliest) throw new InvalidRequest(name, 'this model does not take it')
  }
}

function readLanguage(requested: string | undefined): string | undefined {
  const main = mainLanguage(requested ?? '')
  if (main === '' || NATIVE.includes(main)) return undefined
  const known = Object.hasOwn(LANGUAGES, main) ? LANGUAGES[main] : undefined
  if (known) return known
  const all = ['zh', ...Object.keys(LANGUAGES)].join(', ')
  throw new InvalidRequest('language', `this model understands ${all}; not ${requested}`)
}

/** Writes the prompt as dialogue context, a string that holds JSON. */
function writeContext(prompt: string): string {
  return JSON.stringify({ context_type: 'dialog_ctx', context_data: [{ text: prompt }] })
}
