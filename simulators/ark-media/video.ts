// ARK's video tasks, /contents/generations/tasks: create, get, list, and a DELETE whose meaning
// depends on the state (82379/1520757, 1521309, 1521675, 1521720).
import { randomBytes } from 'node:crypto'
import type { Json } from '../kernel/checks.ts'
import { type Exchange, Refused, type Reply, type Route, whole } from '../kernel/exchange.ts'
import type { Platform } from '../kernel/platform.ts'
import { bentUsage } from '../kernel/usage.ts'
import { encodeFilm, type Film, paintFrame } from '../media/scene.ts'
import { callBack } from '../tasks/call-back.ts'
import { lostAnswer } from '../tasks/lost-answer.ts'
import { hasEnded, type Task } from '../tasks/task.ts'
import { reportedState, TaskList } from '../tasks/task-list.ts'
import { promptOf } from './content.ts'
import { invalid, sensitive } from './refusals.ts'
import { readVideo, type VideoOrder } from './video-request.ts'

const DAY_MS = 86_400_000
const PATH = '/contents/generations/tasks'

interface VideoJob extends VideoOrder {
  tokens: number
  film: Film
  /** Base URL of this simulator, for the URLs of its files. */
  origin: string
  videoUrl?: string
  lastFrameUrl?: string
}

type VideoTask = Task<VideoJob>

export interface VideoTimes {
  queueMs: number
  runMs: number
}

export const VIDEO_TIMES: VideoTimes = { queueMs: 2000, runMs: 8000 }

export function videoRoutes(platform: Platform, times: VideoTimes = VIDEO_TIMES): Route[] {
  const tasks: TaskList<VideoJob> = new TaskList<VideoJob>({
    vendor: 'ark',
    platform,
    queueMs: times.queueMs,
    runMs: () => times.runMs,
    lifeMs: (order) => order.lifeSeconds * 1000,
    recordMs: 7 * DAY_MS,
    end: (task) => {
      shelve(platform, task)
      return { state: 'succeeded', units: { output_token: task.order.tokens } }
    },
    failure: (code = 'OutputVideoSensitiveContentDetected') => {
      return { code, message: 'The request failed because of what was generated.' }
    },
    onChange: (task) => sendCallback(platform, task),
  })
  const one = `${PATH}/{id}`
  const create = (exchange: Exchange) => createVideo(exchange, tasks)
  const found = (exchange: Exchange, task: VideoTask | undefined): VideoTask => {
    if (task) return task
    const message = `The task ${idOf(exchange)} does not exist.`
    throw new Refused({ status: 404, code: 'ResourceNotFound', message })
  }
  return [
    { method: 'POST', path: PATH, operation: 'video.create', text: promptOf, handle: create },
    // There is no such path at ARK; requests for it are answered like creations.
    { method: 'POST', path: `${one}/cancel`, operation: 'video.create', handle: create },
    {
      method: 'GET',
      path: one,
      operation: 'video.get',
      handle: (exchange) => whole(200, bodyOf(found(exchange, tasks.poll(idOf(exchange))))),
    },
    {
      method: 'GET',
      path: PATH,
      operation: 'video.list',
      handle: (exchange) => listVideos(exchange, tasks),
    },
    {
      method: 'DELETE',
      path: one,
      operation: 'video.delete',
      handle: (exchange) => remove(tasks, found(exchange, tasks.peek(idOf(exchange)))),
    },
  ]
}

const idOf = (exchange: Exchange): string => exchange.path.slice(PATH.length + 1)

function createVideo(exchange: Exchange, tasks: TaskList<VideoJob>): Reply {
  const order = readVideo(exchange.json)
  const { scenario, script } = exchange
  if (scenario.has('moderation')) throw sensitive('InputText')
  const referenced = (scenario.number('media-seconds') ?? 5) * order.content.videos
  const { width, height, frames, resolution, ratio } = order
  const film: Film = {
    width,
    height,
    frames,
    subtitle: true,
    title: `${order.model} ${resolution} ${ratio}`,
    prompt: script.plain || order.content.prompt,
  }
  const tokens = tokensOfVideo(order, referenced)
  const origin = `http://${exchange.request.headers.host ?? '127.0.0.1'}`
  const id = scenario.has('duplicate-id') ? 'cgt-20260101000000-again' : freshId()
  const task = tasks.add(exchange, {
    id,
    model: order.model,
    order: { ...order, tokens, film, origin },
  })
  const lost = lostAnswer(exchange)
  if (lost) return lost
  const { safety_identifier: person } = order.echoes
  return whole(200, { id: task.id, safety_identifier: person })
}

/** `cgt-<yyyymmddhhmmss>-<5 characters>`. */
function freshId(): string {
  const now = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14)
  const tail = BigInt(`0x${randomBytes(6).toString('hex')}`)
    .toString(36)
    .slice(-5)
  return `cgt-${now}-${tail.padStart(5, '0')}`
}

function shelve(platform: Platform, { order, scenario }: VideoTask): void {
  if (scenario.has('no-result')) return
  const { film, origin } = order
  const path = platform.shelf.put(
    { name: 'video.mp4', contentType: 'video/mp4', render: () => encodeFilm(film) },
    DAY_MS,
  )
  order.videoUrl = origin + path
  if (!order.lastFrame) return
  const last = Math.floor((film.frames - 1) / 24)
  const render = () => paintFrame({ ...film, subtitle: false }, last)
  const still = { name: 'last-frame.png', contentType: 'image/png', render }
  order.lastFrameUrl = origin + platform.shelf.put(still, DAY_MS)
}

function sendCallback(platform: Platform, task: VideoTask): void {
  const { callbackUrl } = task.order
  if (callbackUrl === undefined || task.state === 'cancelled') return
  callBack(platform, {
    url: callbackUrl,
    body: () => bodyOf(task),
    scenario: task.scenario,
    retries: task.state === 'succeeded' || task.state === 'failed' ? 3 : 0,
  })
}

function bodyOf(task: VideoTask): Json {
  const { order, scenario } = task
  const status = reportedState(task)
  const succeeded = status === 'succeeded'
  const usage = { completion_tokens: order.tokens, total_tokens: order.tokens }
  const stated = succeeded ? bentUsage(usage, scenario.text('usage')) : undefined
  const flipped = { code: 'InternalServiceError', message: 'Flipped by the scenario.' }
  return {
    id: task.id,
    model: task.model,
    status,
    error: status === 'failed' ? (task.ending?.error ?? flipped) : null,
    created_at: Math.floor(task.createdAt / 1000),
    updated_at: Math.floor(task.updatedAt / 1000),
    ...(succeeded ? { content: contentOf(order) } : {}),
    usage: stated,
    seed: order.seed >= 0 ? order.seed : seedOf(task.id),
    resolution: order.resolution,
    ratio: order.ratio,
    ...(order.seconds === undefined ? { frames: order.frames } : { duration: order.seconds }),
    framespersecond: 24,
    ...order.echoes,
  }
}

function contentOf({ videoUrl, lastFrameUrl }: VideoJob): Json {
  return {
    video_url: videoUrl,
    last_frame_url: lastFrameUrl,
  }
}

/** Always the same for the same task. */
const seedOf = (id: string): number =>
  [...id].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 100_000, 7)

function listVideos(exchange: Exchange, tasks: TaskList<VideoJob>): Reply {
  const query = new URLSearchParams(exchange.query)
  const number = pageNumber(query, 'page_num', 1)
  const size = pageNumber(query, 'page_size', 20)
  const ids = query.getAll('filter.task_ids')
  const fits = (name: string, actual: unknown) => {
    const filterValue = query.get(name)
    return filterValue === null || filterValue === '' || filterValue === actual
  }
  const found = tasks
    .list()
    .filter((task) => ids.length === 0 || ids.includes(task.id))
    .filter((task) => fits('filter.status', task.state) && fits('filter.model', task.model))
    .filter((task) => fits('filter.service_tier', task.order.echoes.service_tier))
  const items = found.slice((number - 1) * size, number * size).map(bodyOf)
  return whole(200, { items, total: found.length })
}

function pageNumber(query: URLSearchParams, name: string, otherwise: number): number {
  const written = query.get(name)
  if (written === null) return otherwise
  const value = Number(written)
  if (Number.isInteger(value) && value >= 1 && value <= 500) return value
  throw invalid(name)
}

function remove(tasks: TaskList<VideoJob>, task: VideoTask): Reply {
  if (task.state === 'running') {
    const message = 'Cannot delete task because it is currently running.'
    throw new Refused({ status: 409, code: 'InvalidAction.RunningTaskDeletion', message })
  }
  if (task.state === 'cancelled') {
    const message = 'The task is cancelled and cannot be deleted.'
    throw new Refused({ status: 409, code: 'InvalidAction.CancelledTaskDeletion', message })
  }
  if (hasEnded(task.state)) tasks.delete(task)
  else tasks.cancel(task)
  return whole(200, {})
}

const FRAMES_PER_SECOND = 24
const PIXELS_PER_TOKEN = 1024

/** `inputSeconds` is the length of all referenced videos together. */
function tokensOfVideo(order: VideoOrder, inputSeconds: number): number {
  const { width, height, frames, seconds = frames / FRAMES_PER_SECOND } = order
  const pixels = width * height
  const tokens = Math.floor(
    ((frames + inputSeconds * FRAMES_PER_SECOND) * pixels) / PIXELS_PER_TOKEN,
  )
  if (order.content.videos > 0) {
    const least = Math.ceil((5 * seconds) / 3) * pixels * FRAMES_PER_SECOND
    return Math.max(tokens, Math.floor(least / PIXELS_PER_TOKEN))
  }
  if (!order.draft) return tokens
  return Math.floor(tokens * (order.sound ? 0.6 : 0.7))
}
