// Volcengine AI MediaKit, below `/mediakit`: erases the subtitle of a video. It fetches the video;
// for one made by these simulators it returns the same film without its subtitle.
import { isObject, type Json, text } from '../kernel/checks.ts'
import {
  type Exchange,
  type Failure,
  keyedVendor,
  Refused,
  type Reply,
  type Route,
  type Vendor,
  type WholeReply,
  whole,
} from '../kernel/exchange.ts'
import { nextId } from '../kernel/identifiers.ts'
import type { Platform } from '../kernel/platform.ts'
import { flag } from '../kernel/scenario-names.ts'
import { ASSUMED_SECONDS, type Probed, probe } from '../media/probe.ts'
import { encodeFilm, type Film } from '../media/scene.ts'
import { callBack } from '../tasks/call-back.ts'
import { lostAnswer } from '../tasks/lost-answer.ts'
import { type Ending, hasEnded, type Task } from '../tasks/task.ts'
import { reportedState, TaskList } from '../tasks/task-list.ts'
import { type EraseRequest, readErase } from './request.ts'

const DAY_MS = 86_400_000
const TOKENS_KEPT = 200_000
const TASKS = '/api/v1/tasks'

export interface MediaKitOptions {
  keys: string[]
}

export const MEDIAKIT_DEFAULTS: MediaKitOptions = { keys: ['sim-mediakit-key'] }

interface EraseOrder extends EraseRequest {
  kind: string
  origin: string
  found: Probed | undefined
  seconds: number
  resultUrl?: string
}

type EraseTask = Task<EraseOrder>

export function mediakit(options: MediaKitOptions, platform: Platform): Vendor {
  return keyedVendor({
    keys: options.keys,
    name: 'mediakit',
    prefix: '/mediakit',
    requestIdHeader: 'x-request-id',
    scenarios: [flag('unsuccessful', 'a task that failed is reported with success: false')],
    routes: eraseRoutes(platform),
    failure: mediakitFailure,
    wrongKey: { message: 'the API key is invalid' },
    noPath: { code: 'NotFound' },
  })
}

const CODES: Record<number, string> = {
  400: 'InvalidParameter',
  401: 'AuthenticationError',
  404: 'TaskNotFound',
  429: 'RateLimitExceeded',
}

function mediakitFailure(exchange: Exchange, failure: Failure): WholeReply {
  const code = failure.code ?? CODES[failure.status] ?? 'InternalError'
  const type = failure.status < 500 ? 'BadRequest' : 'InternalServerError'
  const message = failure.message ?? 'the request failed'
  const error = { code, message, param: failure.param ?? '', type }
  const body = { success: false, task_id: '', request_id: exchange.requestId, error }
  const wait = failure.retryAfterSeconds
  const headers: Record<string, string> = wait === undefined ? {} : { 'retry-after': String(wait) }
  return whole(failure.status, body, { headers, reason: code })
}

function eraseRoutes(platform: Platform): Route[] {
  const tasks: TaskList<EraseOrder> = new TaskList<EraseOrder>({
    vendor: 'mediakit',
    platform,
    queueMs: 0,
    runMs: () => 15_000,
    lifeMs: () => Number.POSITIVE_INFINITY,
    recordMs: DAY_MS,
    isReady: ({ found }) => found !== undefined,
    end: (task) => endingOf(platform, task),
    failure: (code = 'ProcessFailed') => ({ code, message: 'the video could not be processed' }),
    onChange: (task) => sendCallback(platform, task),
  })
  const idsByToken = new Map<string, string>()
  const create = (kind: string): Route => ({
    method: 'POST',
    path: `/api/v1/tools/${kind}`,
    operation: 'erase.create',
    text: (json) => (isObject(json) ? decoded(text(json.video_url)) : ''),
    handle: (exchange) => createErase(exchange, { kind, tasks, idsByToken }),
  })
  return [
    create('erase-video-subtitle'),
    create('erase-video-subtitle-pro'),
    {
      method: 'GET',
      path: `${TASKS}/{id}`,
      operation: 'erase.get',
      handle: (exchange) => {
        const task = tasks.poll(exchange.path.slice(TASKS.length + 1))
        if (!task) throw new Refused({ status: 404, message: 'the task does not exist' })
        return whole(200, bodyOf(task, exchange.requestId))
      },
    },
  ]
}

function decoded(address: string): string {
  try {
    return decodeURIComponent(address)
  } catch {
    return address
  }
}

interface Creation {
  kind: string
  tasks: TaskList<EraseOrder>
  /** Tasks by the token of their creator: the same token is the same task. */
  idsByToken: Map<string, string>
}

function createErase(exchange: Exchange, { kind, tasks, idsByToken }: Creation): Reply {
  const { scenario, requestId } = exchange
  const request = readErase(exchange.json, kind.endsWith('-pro'))
  if (scenario.has('moderation')) {
    throw new Refused({ status: 400, code: 'ContentRejected', message: 'the video is refused' })
  }
  const accepted = (id: string) => whole(200, { success: true, task_id: id, request_id: requestId })
  const earlier = request.token === undefined ? undefined : idsByToken.get(request.token)
  if (earlier !== undefined && tasks.peek(earlier)) return accepted(earlier)
  const id = scenario.has('duplicate-id')
    ? `amk-tool-${kind}-1`
    : `amk-tool-${kind}-${Date.now()}${nextId().slice(-4)}`
  const origin = `http://${exchange.request.headers.host ?? '127.0.0.1'}`
  const order: EraseOrder = { ...request, kind, origin, found: undefined, seconds: 0 }
  lookInto(order, scenario.number('media-seconds'))
  const task = tasks.add(exchange, { id, model: kind, order })
  if (request.token !== undefined) remember(idsByToken, request.token, task.id)
  return lostAnswer(exchange) ?? accepted(task.id)
}

/** Keeps as many tokens as tasks, and forgets the oldest. */
function remember(idsByToken: Map<string, string>, token: string, id: string): void {
  idsByToken.set(token, id)
  const [oldest] = idsByToken.size > TOKENS_KEPT ? idsByToken.keys() : []
  if (oldest !== undefined) idsByToken.delete(oldest)
}

function lookInto(order: EraseOrder, seconds: number | undefined): void {
  void probe(order.videoUrl).then((found) => {
    order.found = found
    if ('seconds' in found) order.seconds = seconds ?? Math.round(found.seconds * 100) / 100
  })
}

function endingOf({ shelf }: Platform, { order, scenario }: EraseTask): Ending {
  const { found, seconds } = order
  if (!found || 'problem' in found || found.kind !== 'video') {
    const problem = found && 'problem' in found ? found.problem : 'not a video'
    return { state: 'failed', error: { code: 'InvalidVideo', message: `video_url: ${problem}` } }
  }
  if (!scenario.has('no-result')) {
    const film = erasedFilm(found.note, seconds)
    const render = () => encodeFilm(film)
    const file = { name: 'erased.mp4', contentType: 'video/mp4', render }
    order.resultUrl = order.origin + shelf.put(file, DAY_MS)
  }
  return { state: 'succeeded', units: { second: Math.ceil(seconds) } }
}

/** Returns the film of the metadata without its subtitle, or a substitute for other videos. */
function erasedFilm(note: unknown, seconds: number): Film {
  const film = isObject(note) ? note : {}
  const number = (value: unknown, otherwise: number) =>
    typeof value === 'number' ? value : otherwise
  return {
    title: text(film.title) || 'a video from elsewhere',
    prompt: text(film.prompt),
    width: number(film.width, 1280),
    height: number(film.height, 720),
    frames: number(film.frames, Math.round((seconds || ASSUMED_SECONDS) * 24)),
    subtitle: false,
  }
}

function sendCallback(platform: Platform, task: EraseTask): void {
  const { callbackUrl, callbackArgs } = task.order
  if (callbackUrl === undefined || !hasEnded(task.state)) return
  callBack(platform, {
    url: callbackUrl,
    body: () => ({ ...bodyOf(task, 'callback'), callback_args: callbackArgs ?? '' }),
    scenario: task.scenario,
    retries: 3,
  })
}

function bodyOf(task: EraseTask, requestId: string): Json {
  const { order, ending } = task
  const state = reportedState(task)
  const done = state === 'succeeded'
  const status = done ? 'completed' : state === 'failed' ? 'failed' : 'running'
  const result = {
    video_url: order.resultUrl,
    duration: order.seconds,
  }
  const error = ending?.error ?? { code: 'ProcessFailed', message: 'flipped by the scenario' }
  return {
    success: !(status === 'failed' && task.scenario.has('unsuccessful')),
    task_id: task.id,
    request_id: requestId,
    task_type: order.kind,
    status,
    ...(done ? { result } : {}),
    ...(status === 'failed' ? { error: { ...error, type: 'TaskError' } } : {}),
  }
}
