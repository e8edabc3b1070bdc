// Vendors of many media models: fal's queue, Replicate's predictions and OpenRouter's videos, below
// `/fal`, `/replicate` and `/openrouter-videos`. Films cost what their seconds cost.
import { randomUUID } from 'node:crypto'
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
import { callBack } from '../tasks/call-back.ts'
import { originOf, shelveFilm } from '../tasks/film.ts'
import { lostAnswer } from '../tasks/lost-answer.ts'
import type { Task } from '../tasks/task.ts'
import { reportedState, TaskList } from '../tasks/task-list.ts'

const KEY = 'sim-media-key'
const HOUR_MS = 3_600_000
/** The price of a second at OpenRouter's simulator, in dollars. */
const SECOND_USD = 0.0625

interface MediaJob {
  origin: string
  seconds: number
  prompt: string
  hook: string | undefined
  url?: string
}

type Tasks = TaskList<MediaJob>
type MediaTask = Task<MediaJob>

interface Router {
  readonly name: string
  readonly scheme: string
  /** Creations, each of a path. */
  readonly creates: readonly string[]
  readonly model: (exchange: Exchange) => string
  readonly input: (json: Json) => Json
  readonly hook: (exchange: Exchange, json: Json) => unknown
  readonly error: (message: string, status: number) => unknown
  readonly created: (task: MediaTask) => unknown
  readonly others: (tasks: Tasks) => Route[]
  readonly view: (task: MediaTask) => unknown
}

const found = <T>(task: T | undefined): T => {
  if (!task) throw new Refused({ status: 404, message: 'not found' })
  return task
}

const wordOf = (task: MediaTask, words: Record<string, string>): string =>
  words[reportedState(task)] ?? 'failed'

const FAL_WORDS = {
  queued: 'IN_QUEUE',
  running: 'IN_PROGRESS',
  succeeded: 'COMPLETED',
  failed: 'COMPLETED',
}

/** Every path names owner and model; the answer that has the output also states a failure. */
const FAL: Router = {
  name: 'fal',
  scheme: 'Key',
  creates: ['/{id}/{id}', '/{id}/{id}/{id}', '/{id}/{id}/{id}/{id}/{id}'],
  model: ({ path }) => path.slice(1),
  input: (json) => json,
  hook: ({ query }) => new URLSearchParams(query).get('fal_webhook') ?? undefined,
  error: (message, status) => ({
    detail: status === 422 ? [{ loc: ['body'], msg: message }] : message,
  }),
  created: ({ id }) => ({ status: 'IN_QUEUE', request_id: id, queue_position: 1 }),
  view: ({ id }) => ({ request_id: id, status: 'OK' }),
  others(tasks) {
    const part = (path: string) => path.split('/')[4] ?? ''
    return [
      {
        method: 'GET',
        path: '/{id}/{id}/requests/{id}/status',
        operation: 'video.get',
        handle: ({ path }) => {
          const task = found(tasks.poll(part(path)))
          return whole(200, { status: wordOf(task, FAL_WORDS), request_id: task.id })
        },
      },
      {
        method: 'GET',
        path: '/{id}/{id}/requests/{id}',
        operation: 'video.result',
        handle: ({ path }) => falResult(found(tasks.peek(part(path)))),
      },
      {
        method: 'PUT',
        path: '/{id}/{id}/requests/{id}/cancel',
        operation: 'video.cancel',
        handle: ({ path }) => {
          const task = found(tasks.peek(part(path)))
          if (task.state !== 'queued')
            throw new Refused({ status: 400, message: 'ALREADY_COMPLETED' })
          tasks.cancel(task)
          return whole(202, { status: 'CANCELLATION_REQUESTED' })
        },
      },
    ]
  },
}

function falResult(task: MediaTask): Reply {
  const { order, ending, scenario } = task
  if (task.state === 'failed') {
    const body = {
      detail: [{ loc: ['body', 'prompt'], msg: ending?.error?.message, type: 'policy' }],
    }
    return whole(422, body)
  }
  if (task.state !== 'succeeded') throw new Refused({ status: 400, message: 'still in progress' })
  const stated = bentUsage({ units: order.seconds }, scenario.text('usage'))
  const units = isObject(stated) ? stated.units : undefined
  const headers: Record<string, string> =
    units === undefined ? {} : { 'x-fal-billable-units': String(units) }
  return whole(200, { video: { url: order.url, content_type: 'video/mp4' }, seed: 1 }, { headers })
}

const REPLICATE_WORDS = {
  queued: 'starting',
  running: 'processing',
  succeeded: 'succeeded',
  cancelled: 'canceled',
}

function prediction(task: MediaTask): Json {
  const { id, model, order, ending, createdAt, scenario } = task
  const status = wordOf(task, REPLICATE_WORDS)
  const metrics = { predict_time: 12.34, video_output_duration_seconds: order.seconds }
  return {
    id,
    model,
    status,
    output: status === 'succeeded' ? [order.url].filter(Boolean) : null,
    error: status === 'failed' ? (ending?.error?.message ?? 'flipped') : null,
    created_at: new Date(createdAt).toISOString(),
    metrics: status === 'succeeded' ? bentUsage(metrics, scenario.text('usage')) : {},
  }
}

const REPLICATE: Router = {
  name: 'replicate',
  scheme: 'Bearer',
  creates: ['/v1/models/{id}/{id}/predictions'],
  model: ({ path }) => path.split('/').slice(3, 5).join('/'),
  input: ({ input }) => (isObject(input) ? input : {}),
  hook: (_, { webhook }) => webhook,
  error: (detail, status) => ({ title: 'error', detail, status }),
  created: prediction,
  view: prediction,
  others: (tasks) => [
    {
      method: 'GET',
      path: '/v1/predictions',
      operation: 'video.list',
      handle: () => whole(200, { next: null, results: tasks.list().slice(0, 100).map(prediction) }),
    },
    {
      method: 'GET',
      path: '/v1/predictions/{id}',
      operation: 'video.get',
      handle: ({ path }) => whole(200, prediction(found(tasks.poll(path.split('/')[3] ?? '')))),
    },
    {
      method: 'POST',
      path: '/v1/predictions/{id}/cancel',
      operation: 'video.cancel',
      handle: ({ path }) => {
        const task = found(tasks.peek(path.split('/')[3] ?? ''))
        if (task.state === 'queued') tasks.cancel(task)
        return whole(200, prediction(task))
      },
    },
  ],
}

const OPENROUTER_WORDS = {
  queued: 'pending',
  running: 'in_progress',
  succeeded: 'completed',
  expired: 'expired',
}

function job(task: MediaTask): Json {
  const { id, order, ending, scenario } = task
  const status = wordOf(task, OPENROUTER_WORDS)
  const cost = order.seconds * SECOND_USD
  return {
    id,
    polling_url: `/api/v1/videos/${id}`,
    status,
    ...(status === 'failed' ? { error: ending?.error?.message ?? 'flipped' } : {}),
    ...(status === 'completed'
      ? { urls: [order.url].filter(Boolean), usage: bentUsage({ cost }, scenario.text('usage')) }
      : {}),
  }
}

const OPENROUTER: Router = {
  name: 'openrouter-videos',
  scheme: 'Bearer',
  creates: ['/api/v1/videos'],
  model: ({ json }) => (isObject(json) ? text(json.model) : ''),
  input: (json) => json,
  hook: (_, json) => json.callback_url,
  error: (message, code) => ({ error: { message, code } }),
  created: job,
  view: job,
  others: (tasks) => [
    {
      method: 'GET',
      path: '/api/v1/key',
      operation: 'key.get',
      handle: () => whole(200, { data: { label: 'a key', usage: 0, limit: null } }),
    },
    {
      method: 'GET',
      path: '/api/v1/videos/{id}',
      operation: 'video.get',
      handle: ({ path }) => whole(200, job(found(tasks.poll(path.split('/')[4] ?? '')))),
    },
  ],
}

export function mediaRouters(platform: Platform): Vendor[] {
  return [FAL, REPLICATE, OPENROUTER].map((router) => vendorOf(router, platform))
}

function vendorOf(router: Router, platform: Platform): Vendor {
  const failure = (exchange: Exchange, { status, message = 'refused' }: Failure): WholeReply => {
    const shown = exchange.scenario.has('error-200') ? 200 : status
    return whole(shown, router.error(message, status), { reason: message })
  }
  return keyedVendor({
    name: router.name,
    prefix: `/${router.name}`,
    requestIdHeader: 'x-request-id',
    scenarios: [],
    routes: routesOf(router, platform),
    keys: [KEY],
    scheme: router.scheme,
    failure,
    wrongKey: { message: 'no such key' },
  })
}

function routesOf(router: Router, platform: Platform): Route[] {
  const tasks: Tasks = new TaskList<MediaJob>({
    vendor: router.name,
    platform,
    queueMs: 2000,
    runMs: () => 8000,
    lifeMs: () => 24 * HOUR_MS,
    recordMs: 24 * HOUR_MS,
    end(task) {
      const { order, model, scenario } = task
      const film = { ...order, title: model, side: 720, ratio: '16:9' }
      if (!scenario.has('no-result')) order.url = shelveFilm(platform, film)
      return { state: 'succeeded', units: { second: order.seconds } }
    },
    failure: () => ({ code: 'content_policy', message: 'the content was refused' }),
    onChange: (task) => {
      const { hook } = task.order
      const isOver = task.state === 'succeeded' || task.state === 'failed'
      if (hook === undefined || !isOver) return
      const body = () => router.view(task) as Json
      callBack(platform, { url: hook, body, scenario: task.scenario, retries: 3 })
    },
  })
  const prompt = (json: unknown) => (isObject(json) ? text(router.input(json).prompt) : '')
  const creates = router.creates.map((path): Route => {
    const handle = (exchange: Exchange) => create(exchange, router, tasks)
    return { method: 'POST', path, operation: 'video.create', text: prompt, handle }
  })
  return [...router.others(tasks), ...creates]
}

function create(exchange: Exchange, router: Router, tasks: Tasks): Reply {
  const { json, scenario, script } = exchange
  if (!isObject(json)) throw new Refused({ status: 422, message: 'an object is expected' })
  const input = router.input(json)
  const prompt = text(input.prompt)
  if (prompt === '') throw new Refused({ status: 422, message: 'prompt: field required' })
  if (scenario.has('moderation')) throw new Refused({ status: 422, message: 'refused by policy' })
  const seconds = Number.parseInt(String(input.duration ?? '5'), 10)
  if (!(seconds > 0 && seconds <= 60)) throw new Refused({ status: 422, message: 'duration' })
  const hook = router.hook(exchange, json)
  const id = scenario.has('duplicate-id') ? 'again-and-again' : randomUUID()
  const order = {
    origin: originOf(exchange),
    seconds,
    prompt: script.plain || prompt,
    hook: typeof hook === 'string' ? hook : undefined,
  }
  const task = tasks.add(exchange, { id, model: router.model(exchange), order })
  return lostAnswer(exchange) ?? whole(200, router.created(task))
}
