// Alibaba's model platform, below `/dashscope`: Wan's video tasks with query, list and cancel, and
// pictures at once. An unknown task is stated under HTTP 200; there are no callbacks.
import { randomUUID } from 'node:crypto'
import { isObject, type Json } from '../kernel/checks.ts'
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
import { flag } from '../kernel/scenario-names.ts'
import { bentUsage } from '../kernel/usage.ts'
import { paintCard } from '../media/scene.ts'
import { originOf, shelveFilm } from '../tasks/film.ts'
import { lostAnswer } from '../tasks/lost-answer.ts'
import type { Task, TaskState } from '../tasks/task.ts'
import { reportedState, TaskList } from '../tasks/task-list.ts'
import { promptOf, readPicture, readWan, type WanOrder } from './request.ts'

const DAY_MS = 86_400_000
const VIDEO = '/api/v1/services/aigc/video-generation/video-synthesis'
const PICTURE = '/api/v1/services/aigc/multimodal-generation/generation'
const TASKS = '/api/v1/tasks'
const LARGE_PIXELS = 2_250_000

export interface DashscopeOptions {
  keys: string[]
}

export const DASHSCOPE_DEFAULTS: DashscopeOptions = { keys: ['sim-dashscope-key'] }

interface WanJob extends WanOrder {
  origin: string
  inputSeconds: number
  videoUrl?: string
}

type Tasks = TaskList<WanJob>

export function dashscope(options: DashscopeOptions, platform: Platform): Vendor {
  return keyedVendor({
    keys: options.keys,
    name: 'dashscope',
    prefix: '/dashscope',
    requestIdHeader: 'x-request-id',
    scenarios: [flag('usage-text', 'the usage of a task is a text with JSON inside')],
    routes: routesOf(platform),
    failure: failureOf,
    wrongKey: { code: 'InvalidApiKey', message: 'Invalid API-key.' },
  })
}

const CODES: Record<number, string> = {
  400: 'InvalidParameter',
  401: 'InvalidApiKey',
  403: 'AccessDenied',
  404: 'NotFound',
  429: 'Throttling.RateQuota',
  503: 'ServiceUnavailable',
}

function failureOf(exchange: Exchange, { status, code, message }: Failure): WholeReply {
  const body = {
    code: code ?? CODES[status] ?? 'InternalError',
    message: message ?? 'the request failed',
    request_id: exchange.requestId,
  }
  return whole(exchange.scenario.has('error-200') ? 200 : status, body, { reason: body.message })
}

function routesOf(platform: Platform): Route[] {
  const tasks: Tasks = new TaskList<WanJob>({
    vendor: 'dashscope',
    platform,
    queueMs: 2000,
    runMs: () => 8000,
    lifeMs: () => 3 * 3_600_000,
    recordMs: DAY_MS,
    end: (task) => endOf(platform, task),
    failure: (code = 'DataInspectionFailed') => ({ code, message: 'inappropriate content' }),
  })
  return [
    {
      method: 'POST',
      path: VIDEO,
      operation: 'video.create',
      text: promptOf,
      handle: (exchange) => create(exchange, tasks),
    },
    {
      method: 'POST',
      path: PICTURE,
      operation: 'images.generate',
      text: promptOf,
      handle: (exchange) => paint(exchange, platform),
    },
    {
      method: 'GET',
      path: `${TASKS}/`,
      operation: 'video.list',
      handle: (one) => list(one, tasks),
    },
    {
      method: 'GET',
      path: `${TASKS}/{id}`,
      operation: 'video.get',
      handle: (one) => show(one, tasks),
    },
    {
      method: 'POST',
      path: `${TASKS}/{id}/cancel`,
      operation: 'video.cancel',
      handle: (exchange) => cancel(exchange, tasks),
    },
  ]
}

function endOf(platform: Platform, { order, scenario }: Task<WanJob>) {
  if (order.mixed) {
    const message = 'two modes are mutually exclusive'
    return { state: 'failed', error: { code: 'InvalidParameter', message } } as const
  }
  const { model, resolution, ratio, seconds, inputSeconds } = order
  const film = { ...order, title: `${model} ${resolution}`, side: Number.parseInt(resolution, 10) }
  if (!scenario.has('no-result')) order.videoUrl = shelveFilm(platform, { ...film, ratio })
  return { state: 'succeeded', units: { second: seconds + inputSeconds } } as const
}

function create(exchange: Exchange, tasks: Tasks): Reply {
  const { scenario, script, request } = exchange
  if (request.headers['x-dashscope-async'] !== 'enable') {
    const message = 'current user api does not support synchronous calls'
    throw new Refused({ status: 403, code: 'AccessDenied', message })
  }
  const order = readWan(exchange.json)
  if (scenario.has('moderation')) {
    const message = 'Input data may contain inappropriate content.'
    throw new Refused({ status: 400, code: 'DataInspectionFailed', message })
  }
  const each = scenario.number('media-seconds') ?? 5
  const most = order.model.startsWith('wan3') ? Math.max(0, 30 - order.seconds) : 10
  const inputSeconds = Math.min(most, 15, each * order.videos)
  const prompt = script.plain || order.prompt
  const id = scenario.has('duplicate-id') ? 'again-and-again' : randomUUID()
  const task = tasks.add(exchange, {
    id,
    model: order.model,
    order: { ...order, prompt, inputSeconds, origin: originOf(exchange) },
  })
  const output = { task_status: 'PENDING', task_id: task.id }
  return lostAnswer(exchange) ?? whole(200, { output, request_id: exchange.requestId })
}

const STATES: Record<TaskState, string> = {
  queued: 'PENDING',
  running: 'RUNNING',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  expired: 'FAILED',
  cancelled: 'CANCELED',
}

function show(exchange: Exchange, tasks: Tasks): Reply {
  const id = exchange.path.slice(TASKS.length + 1)
  const task = tasks.poll(id)
  if (!task) return whole(200, { output: { task_id: id, task_status: 'UNKNOWN' }, request_id: 'q' })
  const state = reportedState(task)
  const { order, ending, scenario } = task
  const output = { task_id: id, task_status: STATES[state] }
  if (state === 'failed' || state === 'expired') {
    const timeout = { code: 'InternalError.Timeout', message: 'no result within 3 hours' }
    return whole(200, { output: { ...output, ...(ending?.error ?? timeout) }, request_id: 'q' })
  }
  if (state !== 'succeeded') return whole(200, { output, request_id: 'q' })
  const usage = bentUsage(usageOf(order), scenario.text('usage'))
  const stated = scenario.has('usage-text') ? JSON.stringify(usage) : usage
  const done = { ...output, orig_prompt: order.prompt, video_url: order.videoUrl }
  return whole(200, { output: done, usage: stated, request_id: 'q' })
}

function usageOf({ seconds, inputSeconds, resolution, ratio }: WanJob): Json {
  return {
    video_count: 1,
    duration: seconds + inputSeconds,
    input_video_duration: inputSeconds,
    output_video_duration: seconds,
    fps: 30,
    SR: Number.parseInt(resolution, 10),
    ratio,
  }
}

/** Ten a page, unless asked for more; the clock is in milliseconds. */
function list({ query }: Exchange, tasks: Tasks): Reply {
  const search = new URLSearchParams(query)
  const model = search.get('model_name')
  const all = tasks.list().filter((task) => model === null || task.model === model)
  const [page, size] = [Number(search.get('page_no') ?? 1), Number(search.get('page_size') ?? 10)]
  const data = all.slice((page - 1) * size, page * size).map((task) => ({
    task_id: task.id,
    status: STATES[task.state],
    model_name: task.model,
    gmt_create: task.createdAt,
  }))
  const total_page = Math.ceil(all.length / size)
  return whole(200, { total: all.length, total_page, page_no: page, page_size: size, data })
}

function cancel({ path }: Exchange, tasks: Tasks): Reply {
  const task = tasks.peek(path.slice(TASKS.length + 1).replace(/\/cancel$/, ''))
  if (task?.state !== 'queued') {
    const message = 'Failed to cancel the task, please confirm if the task is in PENDING status.'
    throw new Refused({ status: 400, code: 'UnsupportedOperation', message })
  }
  tasks.cancel(task)
  return whole(200, { request_id: 'q' })
}

function paint(exchange: Exchange, { shelf }: Platform): Reply {
  const { scenario, script } = exchange
  const order = readPicture(exchange.json)
  if (scenario.has('moderation')) {
    const message = 'Input data may contain inappropriate content.'
    throw new Refused({ status: 400, code: 'DataInspectionFailed', message })
  }
  const { model, width, height, count } = order
  const prompt = script.plain || order.prompt
  const render = () => paintCard({ title: `${model} ${width}x${height}`, prompt, width, height })
  const file = { name: 'image.png', contentType: 'image/png', render }
  const content = Array.from({ length: count }, () => ({
    image: originOf(exchange) + shelf.put(file, DAY_MS),
  }))
  const figures = { output_width: width, output_height: height, output_image_count: count }
  const bent = bentUsage(figures, scenario.text('usage'))
  const kind = `qima_output_${width * height <= LARGE_PIXELS ? '1k' : '2k'}`
  const usage = isObject(bent) ? { ...bent, output_image_type: kind } : bent
  const charge = { model, units: { image: count }, reported: usage }
  const choices = [{ finish_reason: 'stop', message: { role: 'assistant', content } }]
  return whole(200, { output: { choices }, usage, request_id: exchange.requestId }, { charge })
}
