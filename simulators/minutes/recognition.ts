// Recognition of recordings 2.0, /api/v3/auc/bigmodel: the client's request id is the task's id,
// and the outcome stands in the headers (6561/1354868).
import { isObject, type Json, text } from '../kernel/checks.ts'
import type { Exchange, Reply, Route } from '../kernel/exchange.ts'
import type { Platform } from '../kernel/platform.ts'
import type { Ending, Task } from '../tasks/task.ts'
import { TaskList } from '../tasks/task-list.ts'
import {
  checkResource,
  EMPTY,
  OK,
  outcome,
  QUEUED,
  RUNNING,
  refused,
  SILENT,
  UNSUPPORTED_FORMAT,
} from './outcome.ts'
import { directivesIn, openRecording, type Recording, sentencesOf } from './recording.ts'

const RESOURCES = ['volc.bigasr.auc', 'volc.seedasr.auc']
const FORMATS = ['raw', 'wav', 'mp3', 'ogg']
const LANGUAGES = [
  ...['en-US', 'ja-JP', 'id-ID', 'es-MX', 'pt-BR', 'de-DE', 'fr-FR', 'ko-KR', 'fil-PH'],
  ...['ms-MY', 'th-TH', 'ar-SA', 'zh-CN', ''],
]
const SPEAKERS = 2
const WEEK_MS = 7 * 86_400_000

interface RecognitionOrder {
  recording: Recording
  language: string
  speakers: boolean
  utterances: boolean
}

type RecognitionTask = Task<RecognitionOrder>

export function recognitionRoutes(platform: Platform): Route[] {
  const tasks = new TaskList<RecognitionOrder>({
    vendor: 'openspeech',
    platform,
    queueMs: 1000,
    runMs: () => 5000,
    lifeMs: () => Number.POSITIVE_INFINITY,
    recordMs: WEEK_MS,
    isReady: ({ recording }) => recording.ready,
    end: endingOf,
    failure: (code = String(UNSUPPORTED_FORMAT)) => ({ code, message: 'asked to fail' }),
  })
  return [
    {
      method: 'POST',
      path: '/api/v3/auc/bigmodel/submit',
      operation: 'recognition.submit',
      text: (json) => directivesIn(addressOf(json)),
      handle: (exchange) => submit(exchange, tasks),
    },
    {
      method: 'POST',
      path: '/api/v3/auc/bigmodel/query',
      operation: 'recognition.query',
      handle: (exchange) => query(exchange, tasks),
    },
  ]
}

function addressOf(json: unknown): string {
  return isObject(json) && isObject(json.audio) ? text(json.audio.url) : ''
}

const idOf = ({ request }: Exchange): string => {
  const id = request.headers['x-api-request-id']
  if (typeof id !== 'string' || id === '') throw refused('X-Api-Request-Id is required')
  return id
}

function submit(exchange: Exchange, tasks: TaskList<RecognitionOrder>): Reply {
  checkResource(exchange, RESOURCES)
  const id = idOf(exchange)
  const { json, scenario } = exchange
  if (!isObject(json) || !isObject(json.audio)) throw refused('audio is required')
  const { audio, request } = json
  const address = text(audio.url)
  if (!/^https?:\/\//.test(address)) throw refused('audio.url is invalid')
  if (!FORMATS.includes(text(audio.format))) throw refused('audio.format is invalid')
  if (!LANGUAGES.includes(text(audio.language))) throw refused('audio.language is invalid')
  if (!isObject(request) || request.model_name !== 'bigmodel') {
    throw refused('request.model_name is invalid')
  }
  if (scenario.has('moderation')) throw refused('the audio is refused')
  if (tasks.peek(id)) throw refused('duplicate request')
  const order: RecognitionOrder = {
    recording: openRecording(exchange, address),
    language: text(audio.language) || 'zh-CN',
    speakers: request.enable_speaker_info === true,
    utterances: request.show_utterances === true,
  }
  tasks.add(exchange, { id, model: String(exchange.request.headers['x-api-resource-id']), order })
  if (scenario.has('lost-answer')) {
    const status = scenario.number('lost-answer') ?? 504
    return exchange.vendor.failure(exchange, { status })
  }
  return { ...outcome(OK), body: '' }
}

function endingOf({ order }: RecognitionTask): Ending {
  const { problem, silent, seconds } = order.recording
  const failed = (code: number, message: string): Ending => {
    return { state: 'failed', error: { code: String(code), message } }
  }
  if (problem === 'format') return failed(UNSUPPORTED_FORMAT, 'Invalid audio format')
  if (problem === 'empty') return failed(EMPTY, 'Empty audio')
  if (problem !== undefined) return failed(45000006, `Invalid audio URI: ${problem}`)
  if (seconds === 0) return failed(EMPTY, 'Empty audio')
  if (silent) return failed(SILENT, 'no valid speech in audio')
  return { state: 'succeeded', units: { second: Math.ceil(seconds) } }
}

function query(exchange: Exchange, tasks: TaskList<RecognitionOrder>): Reply {
  checkResource(exchange, RESOURCES)
  const task = tasks.look(idOf(exchange))
  if (!task) throw refused('task not found')
  if (task.state === 'queued') return outcome(QUEUED)
  if (task.state === 'running') return outcome(RUNNING)
  const { error } = task.ending ?? {}
  if (error) return outcome(Number(error.code) || 55000000, {}, error.message)
  return outcome(OK, resultOf(task))
}

function resultOf({ order, scenario }: RecognitionTask): Json {
  const { language, speakers, utterances, recording } = order
  const sentences = sentencesOf(recording.seconds, language, SPEAKERS)
  const all = sentences.map((sentence) => sentence.text).join(language.startsWith('zh') ? '' : ' ')
  const listed = sentences.map((sentence) => ({
    text: sentence.text,
    start_time: sentence.startMs,
    end_time: sentence.endMs,
    definite: true,
    additions: speakers ? { speaker: String(sentence.speaker) } : {},
    words: sentence.words.map((word) => ({
      text: word.text,
      start_time: word.startMs,
      end_time: word.endMs,
      blank_duration: 0,
    })),
  }))
  const duration = Math.round(recording.seconds * 1000)
  return {
    ...(scenario.text('usage') === 'absent' ? {} : { audio_info: { duration } }),
    result: { text: all, ...(utterances ? { utterances: listed } : {}) },
  }
}
