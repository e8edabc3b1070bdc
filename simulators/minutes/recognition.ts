// Recognition of recordings 2.0, /api/v3/auc/bigmodel: the client's request id is the task's id,
// and the outcome is in the headers (6561/1354868).
import { isObject, type Json, text } from '../kernel/checks.ts'
import type { Exchange, Reply, Route } from '../kernel/exchange.ts'
import type { Platform } from '../kernel/platform.ts'
import { probeBytes } from '../media/probe.ts'
import { joinWords } from '../openspeech/audio/words.ts'
import { lostAnswer } from '../tasks/lost-answer.ts'
import type { Ending } from '../tasks/task.ts'
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
import {
  directivesIn,
  openRecording,
  type Recording,
  recognisedSentences,
  sentencesOf,
} from './recording.ts'

const RESOURCES = ['volc.bigasr.auc', 'volc.seedasr.auc']
const RESOURCES_AT_ONCE = ['volc.bigasr.auc_turbo']
const FORMATS = ['raw', 'wav', 'mp3', 'ogg']
const LANGUAGES = [
  'en-US',
  'ja-JP',
  'id-ID',
  'es-MX',
  'pt-BR',
  'de-DE',
  'fr-FR',
  'ko-KR',
  'fil-PH',
  'ms-MY',
  'th-TH',
  'ar-SA',
  'zh-CN',
  '',
]
const SPEAKERS = 2
const WEEK_MS = 7 * 86_400_000

interface RecognitionOrder {
  recording: Recording
  language: string
  speakers: boolean
  utterances: boolean
}

export function recognitionRoutes(platform: Platform): Route[] {
  const tasks = new TaskList<RecognitionOrder>({
    vendor: 'openspeech',
    platform,
    queueMs: 1000,
    runMs: () => 5000,
    lifeMs: () => Number.POSITIVE_INFINITY,
    recordMs: WEEK_MS,
    isReady: ({ recording }) => recording.ready,
    end: ({ order }) => endingOf(order),
    failure: (code = String(UNSUPPORTED_FORMAT)) => ({ code, message: 'asked to fail' }),
  })
  return [
    {
      method: 'POST',
      path: '/api/v3/auc/bigmodel/submit',
      operation: 'recognition.submit',
      text: wordsTo,
      handle: (exchange) => submit(exchange, tasks),
    },
    {
      method: 'POST',
      path: '/api/v3/auc/bigmodel/query',
      operation: 'recognition.query',
      handle: (exchange) => query(exchange, tasks),
    },
    {
      method: 'POST',
      path: '/api/v3/auc/bigmodel/recognize/flash',
      operation: 'recognition.flash',
      text: wordsTo,
      handle: recogniseAtOnce,
    },
  ]
}

function addressOf(json: unknown): string {
  return isObject(json) && isObject(json.audio) ? text(json.audio.url) : ''
}

/**
 * Returns the text that may contain directives: the URL, or the caller's description of the
 * recording.
 */
function wordsTo(json: unknown): string {
  const request = isObject(json) && isObject(json.request) ? json.request : {}
  const context = isObject(request.corpus) ? text(request.corpus.context) : ''
  return `${directivesIn(addressOf(json))} ${context}`
}

const idOf = ({ request }: Exchange): string => {
  const id = request.headers['x-api-request-id']
  if (typeof id !== 'string' || id === '') throw refused('X-Api-Request-Id is required')
  return id
}

interface RecognitionRequest {
  audio: Json
  settings: Omit<RecognitionOrder, 'recording'>
}

function readRecognitionRequest({ json, scenario }: Exchange): RecognitionRequest {
  if (!isObject(json) || !isObject(json.audio)) throw refused('audio is required')
  const { audio, request } = json
  if (!FORMATS.includes(text(audio.format))) throw refused('audio.format is invalid')
  if (!LANGUAGES.includes(text(audio.language))) throw refused('audio.language is invalid')
  if (!isObject(request) || request.model_name !== 'bigmodel') {
    throw refused('request.model_name is invalid')
  }
  if (scenario.has('moderation')) throw refused('the audio is refused')
  const settings = {
    language: text(audio.language) || 'zh-CN',
    speakers: request.enable_speaker_info === true,
    utterances: request.show_utterances === true,
  }
  return { audio, settings }
}

/** The product that answers in one request: here only for audio in the request. */
function recogniseAtOnce(exchange: Exchange): Reply {
  checkResource(exchange, RESOURCES_AT_ONCE)
  idOf(exchange)
  const { audio, settings } = readRecognitionRequest(exchange)
  const bytes = Buffer.from(text(audio.data), 'base64')
  const recording: Recording = {
    address: '',
    ready: true,
    seconds: 0,
    silent: false,
    words: [],
    problem: undefined,
    ...probeBytes(bytes),
  }
  const order = { ...settings, recording }
  const { error, units = {} } = endingOf(order)
  if (error) return outcome(Number(error.code), {}, error.message)
  const charge = { model: String(exchange.request.headers['x-api-resource-id']), units }
  return { ...outcome(OK, resultOf(order, exchange.scenario)), charge }
}

function submit(exchange: Exchange, tasks: TaskList<RecognitionOrder>): Reply {
  checkResource(exchange, RESOURCES)
  const id = idOf(exchange)
  const { audio, settings } = readRecognitionRequest(exchange)
  const address = text(audio.url)
  if (!/^https?:\/\//.test(address)) throw refused('audio.url is invalid')
  if (tasks.peek(id)) throw refused('duplicate request')
  const order = { ...settings, recording: openRecording(exchange, address) }
  tasks.add(exchange, { id, model: String(exchange.request.headers['x-api-resource-id']), order })
  return lostAnswer(exchange) ?? { ...outcome(OK), body: '' }
}

function endingOf({ recording }: RecognitionOrder): Ending {
  const { problem, silent, seconds } = recording
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
  const task = tasks.poll(idOf(exchange))
  if (!task) throw refused('task not found')
  if (task.state === 'queued') return outcome(QUEUED)
  if (task.state === 'running') return outcome(RUNNING)
  const { error } = task.ending ?? {}
  if (error) return outcome(Number(error.code) || 55000000, {}, error.message)
  return outcome(OK, resultOf(task.order, task.scenario))
}

function resultOf(order: RecognitionOrder, scenario: Exchange['scenario']): Json {
  const { language, speakers, utterances, recording } = order
  const recognised = recognisedSentences(recording, SPEAKERS)
  const hasWords = recognised.length > 0
  const sentences = hasWords ? recognised : sentencesOf(recording.seconds, language, SPEAKERS)
  const all = hasWords
    ? joinWords(recording.words.map(({ word }) => word))
    : sentences.map((sentence) => sentence.text).join(language.startsWith('zh') ? '' : ' ')
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
