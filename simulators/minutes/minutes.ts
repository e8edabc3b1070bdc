// Doubao minutes, /api/v3/auc/lark: turns a recording into files with its text, summary, chapters
// and more. The answer has no duration: it is in the files, which last 24 hours.
import { randomBytes } from 'node:crypto'
import { isObject, type Json, text } from '../kernel/checks.ts'
import type { Exchange, Reply, Route } from '../kernel/exchange.ts'
import type { Platform } from '../kernel/platform.ts'
import type { ProbeProblem } from '../media/probe.ts'
import { lostAnswer } from '../tasks/lost-answer.ts'
import type { Ending, Task } from '../tasks/task.ts'
import { reportedState, TaskList } from '../tasks/task-list.ts'
import { documentsOf } from './documents.ts'
import { checkResource, OK, outcome, QUEUED, RUNNING, refused, SILENT } from './outcome.ts'
import { directivesIn, openRecording, type Recording } from './recording.ts'
import { addressOf, type MinutesRequest, readMinutes } from './request.ts'

const RESOURCE = 'volc.lark.minutes'
const DAY_MS = 86_400_000
const LONGEST_SECONDS = 7200

interface MinutesOrder extends MinutesRequest {
  recording: Recording
  origin: string
  files: Json
}

type MinutesTask = Task<MinutesOrder>

export function minutesRoutes(platform: Platform): Route[] {
  const tasks = new TaskList<MinutesOrder>({
    vendor: 'openspeech',
    platform,
    queueMs: 1000,
    runMs: () => 6000,
    lifeMs: () => Number.POSITIVE_INFINITY,
    recordMs: 7 * DAY_MS,
    isReady: ({ recording }) => recording.ready,
    end: (task) => endingOf(platform, task),
    failure: (code = '4806') => ({ code, message: 'asked to fail' }),
  })
  return [
    {
      method: 'POST',
      path: '/api/v3/auc/lark/submit',
      operation: 'minutes.submit',
      text: (json) => directivesIn(addressOf(json)),
      handle: (exchange) => submit(exchange, tasks),
    },
    {
      method: 'POST',
      path: '/api/v3/auc/lark/query',
      operation: 'minutes.query',
      handle: (exchange) => query(exchange, tasks),
    },
  ]
}

function submit(exchange: Exchange, tasks: TaskList<MinutesOrder>): Reply {
  checkResource(exchange, [RESOURCE])
  const { scenario, json } = exchange
  const request = readMinutes(json)
  if (scenario.has('moderation')) throw refused('the file is refused')
  const order: MinutesOrder = {
    ...request,
    recording: openRecording(exchange, request.address),
    origin: `http://${exchange.request.headers.host ?? '127.0.0.1'}`,
    files: {},
  }
  const id = scenario.has('duplicate-id') ? '7000000000000000001' : freshId()
  tasks.add(exchange, { id, model: RESOURCE, order })
  return lostAnswer(exchange) ?? outcome(OK, { Data: { TaskID: id } })
}

/** Nineteen digits. */
const freshId = (): string =>
  `7${(randomBytes(8).readBigUInt64BE() % 10n ** 18n).toString().padStart(18, '0')}`

const PROBLEMS: Record<ProbeProblem, [string, string]> = {
  address: ['4809', 'invalid url'],
  download: ['4811', 'download error'],
  empty: ['4805', 'empty file'],
  format: ['4808', 'unsupported audio format'],
}

function endingOf(platform: Platform, task: MinutesTask): Ending {
  const { recording } = task.order
  const failed = (code: string, message: string): Ending => {
    return { state: 'failed', error: { code, message } }
  }
  if (recording.problem !== undefined) return failed(...PROBLEMS[recording.problem])
  if (recording.seconds === 0) return failed('4801', 'empty audio')
  if (recording.silent) return failed(String(SILENT), 'silent audio')
  if (recording.seconds > LONGEST_SECONDS) return failed('4807', 'the audio is too long')
  if (!task.scenario.has('no-result')) shelve(platform, task.order)
  return { state: 'succeeded', units: { second: Math.ceil(recording.seconds) } }
}

function shelve({ shelf }: Platform, order: MinutesOrder): void {
  for (const [field, document] of Object.entries(documentsOf(order, order.recording.seconds))) {
    const render = () => Buffer.from(JSON.stringify(document))
    const file = { name: `${field}.json`, contentType: 'application/json', render }
    order.files[field] = order.origin + shelf.put(file, DAY_MS)
  }
}

function query(exchange: Exchange, tasks: TaskList<MinutesOrder>): Reply {
  checkResource(exchange, [RESOURCE])
  const { json } = exchange
  const task = tasks.poll(isObject(json) ? text(json.TaskID) : '')
  if (!task) throw refused('task not found')
  const { error } = task.ending ?? {}
  const code = Number(error?.code ?? 0)
  // Codes of eight digits are in the header, shorter ones in the body.
  if (code >= OK) return outcome(code, {}, error?.message)
  const state = reportedState(task)
  if (state === 'queued') return outcome(QUEUED, bodyOf(task, 'running'))
  if (state === 'running') return outcome(RUNNING, bodyOf(task, 'running'))
  return outcome(OK, bodyOf(task, state === 'succeeded' ? 'success' : 'failed'))
}

function bodyOf({ id, order, ending }: MinutesTask, status: string): Json {
  const failed = status === 'failed'
  const Data = {
    TaskID: id,
    Status: status,
    ErrCode: failed ? Number(ending?.error?.code ?? 4806) : 0,
    ErrMessage: failed ? (ending?.error?.message ?? '') : '',
    ...(status === 'success' ? { Result: order.files } : {}),
  }
  return { Code: 0, Message: 'success', Data }
}
