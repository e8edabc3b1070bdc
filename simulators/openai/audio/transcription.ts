// POST /audio/transcriptions and /audio/translations of OpenAI: the text hidden in the file, of a
// translation with `en ` before it. Models whose name
// contains `tokens` are billed by tokens, all others by seconds.
import { isObject, type Json, text } from '../../kernel/checks.ts'
import { dataEvent } from '../../kernel/events.ts'
import { type Exchange, type Reply, type Route, whole } from '../../kernel/exchange.ts'
import { bentUsage } from '../../kernel/usage.ts'
import { tokensOf } from '../../model/tokens.ts'
import { listen, type Recording } from '../../openspeech/audio/listen.ts'
import { badValue, invalid, missing, openaiError } from '../errors.ts'
import { type ModelList, unknownModel } from '../models.ts'
import { segmentsOf, writeSrt, writeVtt } from './subtitles.ts'

const FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json']
const KEYS = new Set([
  'file',
  'model',
  'language',
  'prompt',
  'response_format',
  'temperature',
  'stream',
  'timestamp_granularities[]',
  'include[]',
  'chunking_strategy',
])
const TOKENS_IN_SECOND = 10

interface Order {
  model: string
  format: string
  language: string
  words: boolean
  segments: boolean
  stream: boolean
  recording: Recording
}

const TRANSLATION_KEYS = new Set(['file', 'model', 'prompt', 'response_format', 'temperature'])

export function transcriptionRoutes(models: ModelList): Route[] {
  const prompt = (json: unknown) => (isObject(json) ? text(json.prompt) : '')
  return [
    {
      method: 'POST',
      path: '/audio/transcriptions',
      operation: 'audio.transcriptions',
      text: prompt,
      handle: (exchange) => transcribe(exchange, readOrder(exchange.json, models, KEYS)),
    },
    {
      method: 'POST',
      path: '/audio/translations',
      operation: 'audio.translations',
      text: prompt,
      handle(exchange) {
        const order = readOrder(exchange.json, models, TRANSLATION_KEYS)
        const { recording } = order
        const english = { ...recording, text: `en ${recording.text}` }
        return transcribe(exchange, { ...order, recording: english })
      },
    },
  ]
}

function transcribe(exchange: Exchange, order: Order): Reply {
  const { model, format, stream, recording } = order
  const usage = usageOf(order)
  const reported = bentUsage(usage, exchange.scenario.text('usage'))
  const charge = { model, units: unitsOf(usage), reported }
  if (stream) return streamed(order, charge)
  const usageMember = reported === undefined ? {} : { usage: reported }
  if (format === 'json') return whole(200, { text: recording.text, ...usageMember }, { charge })
  if (format === 'verbose_json')
    return whole(200, { ...verbose(order), ...usageMember }, { charge })
  if (format === 'diarized_json')
    return whole(200, { ...diarized(recording), ...usageMember }, { charge })
  const plain = { kind: 'whole', status: 200, charge } as const
  const headers = { 'content-type': 'text/plain; charset=utf-8' }
  if (format === 'srt') return { ...plain, headers, body: writeSrt(recording) }
  if (format === 'vtt') return { ...plain, headers, body: writeVtt(recording) }
  return { ...plain, headers, body: `${recording.text}\n` }
}

function streamed(
  { recording }: Order,
  charge: { model: string; units: Record<string, number>; reported: unknown },
): Reply {
  const deltas = recording.words.map(({ word }, index) => {
    const delta = index === 0 ? word : ` ${word}`
    return dataEvent({ type: 'transcript.text.delta', delta }, 0)
  })
  const usage = charge.reported === undefined ? {} : { usage: charge.reported }
  const done = dataEvent({ type: 'transcript.text.done', text: recording.text, ...usage })
  return {
    kind: 'stream',
    status: 200,
    frames: [...deltas, done],
    charge,
    error: (_, failure) => [dataEvent(openaiError(failure))],
    padding: (bytes) => dataEvent({ type: 'padding', padding: 'x'.repeat(bytes) }),
  }
}

function usageOf({ model, recording }: Order) {
  if (!model.includes('tokens')) {
    return { type: 'duration', seconds: Math.ceil(recording.seconds) } as const
  }
  const audio_tokens = Math.ceil(recording.seconds * TOKENS_IN_SECOND)
  const output_tokens = tokensOf(recording.text)
  return {
    ...({ type: 'tokens', input_tokens: audio_tokens, output_tokens } as const),
    total_tokens: audio_tokens + output_tokens,
    input_token_details: { text_tokens: 0, audio_tokens },
  }
}

function unitsOf(usage: ReturnType<typeof usageOf>): Record<string, number> {
  if (usage.type === 'duration') return { second: usage.seconds }
  return { audio_input_token: usage.input_tokens, output_token: usage.output_tokens }
}

function verbose({ recording, language, words, segments }: Order): Json {
  const { seconds, text: recognisedText } = recording
  return {
    task: 'transcribe',
    language: language || 'english',
    duration: seconds,
    text: recognisedText,
    ...(segments ? { segments: segmentsOf(recording) } : {}),
    ...(words ? { words: recording.words } : {}),
  }
}

/** Two people take turns. */
function diarized(recording: Recording): Json {
  const segments = segmentsOf(recording).map(({ id, start, end, text: said }, index) => {
    const speaker = index % 2 === 0 ? 'A' : 'B'
    return { type: 'transcript.text.segment', id: `seg_${id}`, start, end, text: said, speaker }
  })
  return { task: 'transcribe', duration: recording.seconds, text: recording.text, segments }
}

function readOrder(json: unknown, models: ModelList, keys: ReadonlySet<string>): Order {
  if (!isObject(json)) throw invalid('', undefined, 'The body must be multipart/form-data.')
  for (const key in json) {
    if (keys.has(key)) continue
    throw invalid(key, 'unknown_parameter', `Unknown parameter: '${key}'.`)
  }
  const { file, model, response_format: format = 'json' } = json
  if (typeof model !== 'string' || !models.has(model)) throw unknownModel(String(model))
  if (!Buffer.isBuffer(file)) throw missing('file')
  if (typeof format !== 'string' || !FORMATS.includes(format)) {
    throw badValue('response_format', format, FORMATS)
  }
  const recording = listen(file)
  if (!recording) throw invalid('file', 'invalid_value', 'The audio file could not be decoded.')
  const listed = json['timestamp_granularities[]']
  const granularities = Array.isArray(listed) ? listed : ['segment']
  return {
    model,
    format,
    language: text(json.language),
    recording,
    words: granularities.includes('word'),
    segments: granularities.includes('segment'),
    stream: json.stream === 'true',
  }
}
