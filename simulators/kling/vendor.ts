// Kuaishou's video platform, below `/kling`, in both generations: the newer one with an API key,
// the older one with signed tokens too. Tasks are found by the client's id; there is no cancel.
import { randomBytes } from 'node:crypto'
import type { Json } from '../kernel/checks.ts'
import {
  type Exchange,
  type Failure,
  Refused,
  type Reply,
  type Route,
  type Vendor,
  type WholeReply,
  whole,
} from '../kernel/exchange.ts'
import type { Platform } from '../kernel/platform.ts'
import { flag } from '../kernel/scenario-names.ts'
import { originOf, shelveFilm } from '../tasks/film.ts'
import { lostAnswer } from '../tasks/lost-answer.ts'
import type { Task } from '../tasks/task.ts'
import { reportedState, TaskList } from '../tasks/task-list.ts'
import { type KlingOrder, promptOf, readNewer, readOlder, refusalOfToken } from './request.ts'

const MONTH_MS = 30 * 86_400_000
const OLDER = ['text2video', 'image2video'] as const

export interface KlingOptions {
  keys: string[]
  /** Secrets by access key. */
  pairs: Record<string, string>
}

export const KLING_DEFAULTS: KlingOptions = {
  keys: ['sim-kling-key'],
  pairs: { 'sim-kling-access': 'sim-kling-secret' },
}

interface KlingJob extends KlingOrder {
  origin: string
  /** The older path, or `tasks`. */
  door: string
  url?: string
}

type Tasks = TaskList<KlingJob>

export function kling(options: KlingOptions, platform: Platform): Vendor {
  const pairs = new Map(Object.entries(options.pairs))
  return {
    name: 'kling',
    prefix: '/kling',
    requestIdHeader: 'x-request-id',
    scenarios: [flag('late-error', 'the task is accepted, and its creation answers 504 with 5002')],
    routes: routesOf(platform),
    authenticate(exchange) {
      const token = String(exchange.request.headers.authorization ?? '').replace(/^Bearer /, '')
      if (options.keys.includes(token)) return undefined
      const isOlder = exchange.path.startsWith('/v1/')
      const message = isOlder ? refusalOfToken(token, pairs) : 'does not support AK/SK'
      if (message === undefined) return undefined
      return failureOf(exchange, { status: 401, code: '1002', message })
    },
    failure: failureOf,
    malformed: (exchange, message) => failureOf(exchange, { status: 400, message }),
    notFound: (exchange) => failureOf(exchange, { status: 404, code: '1202', message: 'no path' }),
  }
}

const CODES: Record<number, number> = {
  400: 1201,
  401: 1002,
  403: 1103,
  404: 1203,
  429: 1302,
  503: 5001,
  504: 5002,
}

function failureOf(exchange: Exchange, { status, code, message = 'refused' }: Failure): WholeReply {
  const body = { code: Number(code ?? CODES[status] ?? 5000), message, request_id: 'r' }
  return whole(exchange.scenario.has('error-200') ? 200 : status, body, { reason: message })
}

function routesOf(platform: Platform): Route[] {
  const tasks: Tasks = new TaskList<KlingJob>({
    vendor: 'kling',
    platform,
    queueMs: 2000,
    runMs: () => 8000,
    lifeMs: () => MONTH_MS,
    recordMs: MONTH_MS,
    end({ order, scenario }) {
      const { model, resolution } = order
      const side = resolution === '4k' ? 2160 : Number.parseInt(resolution, 10)
      const film = { ...order, title: `${model} ${resolution}`, side }
      if (!scenario.has('no-result')) order.url = shelveFilm(platform, film)
      return { state: 'succeeded', units: { second: order.seconds } }
    },
    failure: () => ({ code: '1301', message: 'Failure to pass the risk control system' }),
  })
  const newer = ['text-to-video', 'image-to-video'].map((door): Route => {
    const model = (path: string) => decodeURIComponent(path.slice(door.length + 2))
    const handle = (exchange: Exchange) =>
      create(exchange, tasks, readNewer(exchange.json, model(exchange.path)), 'tasks')
    return {
      method: 'POST',
      path: `/${door}/{id}`,
      operation: 'video.create',
      text: promptOf,
      handle,
    }
  })
  const older = OLDER.flatMap((door): Route[] => {
    const path = `/v1/videos/${door}`
    const order = ({ json }: Exchange) => readOlder(json, door === 'image2video')
    return [
      {
        method: 'POST',
        path,
        operation: 'video.create',
        text: promptOf,
        handle: (exchange) => create(exchange, tasks, order(exchange), door),
      },
      {
        method: 'GET',
        path: `${path}/{id}`,
        operation: 'video.get',
        handle: (exchange) => showOlder(exchange.path.slice(path.length + 1), door, tasks),
      },
      {
        method: 'GET',
        path,
        operation: 'video.list',
        handle: () => whole(200, { code: 0, data: [] }),
      },
    ]
  })
  const list = (exchange: Exchange) => showNewer(exchange, tasks)
  return [
    ...newer,
    ...older,
    { method: 'GET', path: '/tasks', operation: 'video.get', handle: list },
  ]
}

function create(exchange: Exchange, tasks: Tasks, order: KlingOrder, door: string): Reply {
  const { scenario, script } = exchange
  if (scenario.has('moderation')) {
    throw new Refused({ status: 400, code: '1301', message: 'risk control' })
  }
  const isTaken = tasks.list().some((task) => task.order.externalId === order.externalId)
  if (order.externalId !== '' && isTaken) {
    throw new Refused({ status: 400, code: '1201', message: 'external_task_id is taken' })
  }
  const id = scenario.has('duplicate-id') ? '880000000000000001' : freshId()
  const prompt = script.plain || order.prompt
  const job = { ...order, prompt, door, origin: originOf(exchange) }
  const task = tasks.add(exchange, { id, model: order.model, order: job })
  if (scenario.has('late-error')) return failureOf(exchange, { status: 504, message: 'time-out' })
  const data = door === 'tasks' ? newerBody(task) : olderBody(task)
  return lostAnswer(exchange) ?? whole(200, { code: 0, message: 'SUCCEED', request_id: 'r', data })
}

const freshId = (): string => `88${(randomBytes(8).readBigUInt64BE() % 10n ** 16n).toString()}`

function find(tasks: Tasks, name: 'id' | 'externalId', value: string, door: string) {
  const known = tasks.list().find((task) => {
    return (name === 'id' ? task.id : task.order.externalId) === value && task.order.door === door
  })
  return known && tasks.poll(known.id)
}

function showNewer({ query }: Exchange, tasks: Tasks): Reply {
  const search = new URLSearchParams(query)
  const [ids, own] = [search.get('task_ids'), search.get('external_task_ids')]
  if (ids === null && own === null) throw new Refused({ status: 400, message: 'task_ids' })
  const found = (ids ?? own ?? '').split(',').flatMap((value) => {
    const task = find(tasks, ids === null ? 'externalId' : 'id', value, 'tasks')
    return task ? [newerBody(task)] : []
  })
  return whole(200, { code: 0, message: 'SUCCEED', request_id: 'r', data: found })
}

function showOlder(value: string, door: string, tasks: Tasks): Reply {
  const id = decodeURIComponent(value)
  const task = find(tasks, 'id', id, door) ?? find(tasks, 'externalId', id, door)
  if (!task) throw new Refused({ status: 404, code: '1203', message: 'the task does not exist' })
  return whole(200, { code: 0, message: 'SUCCEED', request_id: 'r', data: olderBody(task) })
}

const statusOf = (task: Task<KlingJob>, good: string): string => {
  const state = reportedState(task)
  if (state === 'succeeded') return good
  return { queued: 'submitted', running: 'processing' }[state as string] ?? 'failed'
}

/** Half a unit a second and more, as the price list has it. */
function unitsOf({ seconds, audio, resolution }: KlingJob): string {
  const each = (resolution === '720p' ? 6 : resolution === '1080p' ? 8 : 30) * (audio ? 1.5 : 1)
  return ((seconds * each) / 10).toFixed(1)
}

function newerBody(task: Task<KlingJob>): Json {
  const { id, order, createdAt, updatedAt, ending } = task
  const status = statusOf(task, 'succeeded')
  const file = { type: 'video', id: `${id}v`, url: order.url, duration: `${order.seconds}.041` }
  const amount = status === 'succeeded' ? unitsOf(order) : '0'
  const isOver = status === 'succeeded' || status === 'failed'
  return {
    id,
    status,
    message: status === 'failed' ? (ending?.error?.message ?? 'flipped') : '',
    create_time: createdAt,
    update_time: updatedAt,
    external_id: order.externalId,
    ...(status === 'succeeded' ? { outputs: [file] } : {}),
    ...(isOver ? { billing: [{ charge_type: 'unit', amount, package_type: 'video' }] } : {}),
  }
}

function olderBody(task: Task<KlingJob>): Json {
  const { id, order, createdAt, updatedAt, ending } = task
  const status = statusOf(task, 'succeed')
  const file = { id: `${id}v`, url: order.url, duration: `${order.seconds}.1` }
  return {
    task_id: id,
    task_status: status,
    task_status_msg: status === 'failed' ? (ending?.error?.message ?? 'flipped') : '',
    task_info: { external_task_id: order.externalId },
    created_at: createdAt,
    updated_at: updatedAt,
    ...(status === 'succeed'
      ? { final_unit_deduction: unitsOf(order), task_result: { videos: [file] } }
      : {}),
  }
}
