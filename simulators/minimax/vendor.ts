// MiniMax video, below `/minimax`: the second protocol, with create, query and the upgrade of a
// finished task. There is no list and no cancel. A callback URL must answer a challenge.
import { randomBytes } from 'node:crypto'
import { promptOf } from '../ark-media/content.ts'
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
import type { Platform } from '../kernel/platform.ts'
import { bentUsage } from '../kernel/usage.ts'
import { encodeFilm } from '../media/scene.ts'
import { callBack, passesChallenge } from '../tasks/call-back.ts'
import { lostAnswer } from '../tasks/lost-answer.ts'
import type { Task } from '../tasks/task.ts'
import { reportedState, TaskList } from '../tasks/task-list.ts'
import { invalid, type MinimaxOrder, readGeneration, sizeOf } from './request.ts'

const DAY_MS = 86_400_000
const QUERY = '/v2/query/video_generation'
const FREE_IMAGES = 5

export interface MinimaxOptions {
  keys: string[]
}

export const MINIMAX_DEFAULTS: MinimaxOptions = { keys: ['sim-minimax-key'] }

interface MinimaxJob extends MinimaxOrder {
  origin: string
  inputSeconds: number
  taskType: string
  videoUrl?: string
  /** True once the callback URL has answered the challenge. */
  challenge: Promise<boolean>
}

type MinimaxTask = Task<MinimaxJob>

export function minimax(options: MinimaxOptions, platform: Platform): Vendor {
  return keyedVendor({
    keys: options.keys,
    name: 'minimax',
    prefix: '/minimax',
    requestIdHeader: 'trace-id',
    scenarios: [],
    routes: minimaxRoutes(platform),
    failure: minimaxFailure,
    wrongKey: { message: 'invalid api key' },
  })
}

const TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
}

const BASE_CODES: Record<number, number> = { 400: 2013, 401: 1004, 402: 1008, 429: 1002 }

/** With `error-200` a rejection is in base_resp under HTTP 200, as the vendor sometimes answers. */
function minimaxFailure(exchange: Exchange, failure: Failure): WholeReply {
  const { status } = failure
  const message = failure.message ?? 'the request failed'
  if (exchange.scenario.has('error-200')) {
    const code = Number(failure.code ?? BASE_CODES[status] ?? 1000)
    const base_resp = { status_code: code, status_msg: message }
    return whole(200, { task_id: '', base_resp }, { reason: message })
  }
  const error = { type: TYPES[status] ?? 'api_error', message, http_code: status }
  const body = { type: 'error', error, request_id: exchange.requestId }
  const wait = failure.retryAfterSeconds
  const headers: Record<string, string> = wait === undefined ? {} : { 'retry-after': String(wait) }
  return whole(status, body, { headers, reason: message })
}

function minimaxRoutes(platform: Platform): Route[] {
  const tasks: TaskList<MinimaxJob> = new TaskList<MinimaxJob>({
    vendor: 'minimax',
    platform,
    queueMs: 2000,
    runMs: () => 8000,
    lifeMs: () => 2 * DAY_MS,
    recordMs: 7 * DAY_MS,
    end: (task) => {
      if (!task.scenario.has('no-result')) shelve(platform, task.order)
      const { seconds, inputSeconds, images } = task.order
      const dearer = Math.max(0, images - FREE_IMAGES)
      const units = { second: seconds + inputSeconds, ...(dearer > 0 ? { image: dearer } : {}) }
      return { state: 'succeeded', units }
    },
    failure: (code = '1027') => ({ code, message: 'output content policy' }),
    onChange: (task) => void sendCallback(platform, task),
  })
  const post = (path: string, handle: (exchange: Exchange) => Reply): Route => {
    return { method: 'POST', path, operation: 'video.create', text: promptOf, handle }
  }
  return [
    post('/v2/video_generation', (exchange) => generate(exchange, tasks)),
    post('/v2/video_regeneration', (exchange) => regenerate(exchange, tasks)),
    {
      method: 'GET',
      path: `${QUERY}/{id}`,
      operation: 'video.get',
      handle: (exchange) => {
        const task = tasks.poll(exchange.path.slice(QUERY.length + 1))
        if (!task) throw new Refused({ status: 404, message: 'task not found' })
        return whole(200, { task: bodyOf(task) })
      },
    },
  ]
}

function generate(exchange: Exchange, tasks: TaskList<MinimaxJob>): Reply {
  const order = readGeneration(exchange.json)
  const { scenario, script } = exchange
  if (scenario.has('moderation')) throw invalid('sensitive content in the prompt (1026)')
  const inputSeconds = (scenario.number('media-seconds') ?? 5) * order.videos
  const { callbackUrl } = order
  const challenge =
    callbackUrl === undefined ? Promise.resolve(false) : passesChallenge(callbackUrl)
  return accept(exchange, tasks, {
    ...order,
    inputSeconds,
    challenge,
    taskType: 'generation',
    prompt: script.plain || order.prompt,
    origin: `http://${exchange.request.headers.host ?? '127.0.0.1'}`,
  })
}

/** Only a finished 768P task can be upgraded to 2K. */
function regenerate(exchange: Exchange, tasks: TaskList<MinimaxJob>): Reply {
  const { json } = exchange
  const source = isObject(json) ? tasks.peek(text(json.source_task_id)) : undefined
  if (source?.state !== 'succeeded' || source.order.resolution !== '768P') {
    throw invalid('invalid source_task_id')
  }
  if (isObject(json) && json.resolution !== '2K') throw invalid('invalid resolution')
  const [width, height] = sizeOf('2K', source.order.ratio)
  const changed = { width, height, resolution: '2K', taskType: 'regeneration', inputSeconds: 0 }
  return accept(exchange, tasks, { ...source.order, ...changed })
}

function accept(exchange: Exchange, tasks: TaskList<MinimaxJob>, order: MinimaxJob): Reply {
  const { scenario } = exchange
  const id = scenario.has('duplicate-id') ? '311000000000001' : freshId()
  const task = tasks.add(exchange, { id, model: order.model, order })
  return lostAnswer(exchange) ?? whole(200, { task_id: task.id })
}

const freshId = (): string =>
  `311${(randomBytes(8).readBigUInt64BE() % 10n ** 12n).toString().padStart(12, '0')}`

function shelve({ shelf }: Platform, order: MinimaxJob): void {
  const { model, resolution, ratio, width, height, prompt, seconds } = order
  const title = `${model} ${resolution} ${ratio}`
  const film = { title, prompt, width, height, frames: 24 * seconds, subtitle: true }
  const render = () => encodeFilm(film)
  const file = { name: 'output.mp4', contentType: 'video/mp4', render }
  order.videoUrl = order.origin + shelf.put(file, DAY_MS)
}

async function sendCallback(platform: Platform, task: MinimaxTask): Promise<void> {
  const { callbackUrl, challenge } = task.order
  const body = { task: bodyOf(task) }
  if (callbackUrl === undefined || !(await challenge)) return
  callBack(platform, {
    url: callbackUrl,
    body: () => body,
    scenario: task.scenario,
    retries: 3,
  })
}

function bodyOf(task: MinimaxTask): Json {
  const { order, scenario, ending } = task
  const status = reportedState(task)
  const { seconds, inputSeconds, images } = order
  const figures = {
    total_seconds: seconds + inputSeconds,
    input_seconds: inputSeconds,
    output_seconds: seconds,
    input_image_count: images,
  }
  const usage = bentUsage(figures, scenario.text('usage'))
  const error = ending?.error ?? { code: '1027', message: 'flipped by the scenario' }
  return {
    id: task.id,
    model: task.model,
    status,
    ...(status === 'succeeded'
      ? { content: order.videoUrl === undefined ? {} : { url: order.videoUrl } }
      : {}),
    ...(status === 'failed' ? { error: { ...error, code: Number(error.code) || 1027 } } : {}),
    resolution: order.resolution,
    duration: seconds,
    ratio: order.ratio,
    ...(status === 'succeeded' && usage !== undefined ? { usage } : {}),
    task_type: order.taskType,
    modality: 'video',
  }
}
