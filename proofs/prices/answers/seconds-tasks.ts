/** Tasks of vendors that bill seconds: how each names, shows and bills one. */
import type { Case } from '../plan.ts'
import type { Work } from '../vendor/bill.ts'
import { jsonScript, type Script } from './script.ts'
import type { Json } from './usage.ts'

/** Creations, each with its path. */
export const CREATIONS: Readonly<Record<string, (id: string) => object>> = {
  '/dashscope/api/v1/services/aigc/video-generation/video-synthesis': (id) => ({
    output: { task_id: id, task_status: 'PENDING' },
  }),
  '/minimax/v2/video_generation': (task_id) => ({ task_id }),
  '/kling/text-to-video/kling-3.0': (id) => ({ code: 0, data: { id, status: 'submitted' } }),
  '/fal/owner/films': (request_id) => ({ request_id, status: 'IN_QUEUE' }),
  '/replicate/v1/models/owner/films/predictions': (id) => ({ id, status: 'starting' }),
  '/openrouter/api/v1/videos': (id) => ({ id, status: 'pending' }),
}

interface Task {
  readonly id: string
  readonly isFailed: boolean
  readonly url: string
  /** The billed seconds as the vendor writes them. */
  readonly seconds: unknown
  readonly work: Work
}

type Show = (task: Task) => Script

/** Questions, each with the place of the id in its address. */
const LOOKS: readonly (readonly [RegExp, Show])[] = [
  [/^\/dashscope\/api\/v1\/tasks\/([^/?]+)$/, showDashscope],
  [/^\/minimax\/v2\/query\/video_generation\/([^/?]+)$/, showMinimax],
  [/^\/kling\/tasks\?task_ids=([^&]+)$/, showKling],
  [/^\/fal\/owner\/films\/requests\/([^/]+)\/status$/, () => jsonScript({ status: 'COMPLETED' })],
  [/^\/fal\/owner\/films\/requests\/([^/]+)$/, showFal],
  [/^\/replicate\/v1\/predictions\/([^/]+)$/, showReplicate],
  [/^\/openrouter\/api\/v1\/videos\/([^/]+)$/, showOpenRouter],
]

/** Returns the id that a question is about, and the answer to it; undefined for another address. */
export function findLook(address: string) {
  for (const [pattern, show] of LOOKS) {
    const id = pattern.exec(address)?.[1]
    if (id === undefined) continue
    return {
      id: decodeURIComponent(id),
      show: ({ answer }: Case, work: Work) => show(taskOf(answer, work, decodeURIComponent(id))),
    }
  }
  return undefined
}

function taskOf({ breakage, form }: Case['answer'], work: Work, id: string): Task {
  const { second = 0 } = work.counts
  const seconds = form === 'text' ? `${second - 1}.5` : form === 'fraction' ? second - 0.5 : second
  const url = `https://media.example/${id}.mp4`
  return { id, isFailed: breakage !== undefined, url, seconds, work }
}

/** A failed task sometimes states its usage, which no caller pays. */
function showDashscope({ id, isFailed, url, seconds, work: { served } }: Task): Script {
  const output = { task_id: id, task_status: isFailed ? 'FAILED' : 'SUCCEEDED' }
  const side = served.resolution === '1080p' ? 1080 : 720
  const usage = { duration: seconds, SR: side }
  if (!isFailed) return jsonScript({ output: { ...output, video_url: url }, usage })
  return jsonScript({ output: { ...output, code: 'InternalError', message: 'failed' }, usage })
}

/** It bills input and output seconds alike. */
function showMinimax({ id, isFailed, url, seconds, work: { served } }: Task): Script {
  if (isFailed) {
    return jsonScript({ task: { id, status: 'failed', error: { code: 1027, message: 'refused' } } })
  }
  const resolution = served.resolution === '2K' ? '2K' : '768P'
  const usage = { total_seconds: seconds, input_image_count: 0 }
  return jsonScript({ task: { id, status: 'succeeded', content: { url }, resolution, usage } })
}

/** It states the length of the result, but bills the order. */
function showKling({ id, isFailed, url }: Task): Script {
  const outputs = isFailed ? [] : [{ type: 'video', url, duration: '5.1' }]
  const billing = [{ charge_type: 'unit', amount: '4.0' }]
  const status = isFailed ? 'failed' : 'succeeded'
  return jsonScript({ code: 0, data: [{ id, status, message: '', outputs, billing }] })
}

function showFal({ isFailed, url, seconds }: Task): Script {
  const [status, body]: [number, Json] = isFailed
    ? [422, { detail: [{ loc: ['body'], msg: 'refused', type: 'policy' }] }]
    : [200, { video: { url } }]
  const script = jsonScript(body, status)
  const headers = { ...script.headers, 'x-fal-billable-units': String(seconds) }
  return { ...script, headers }
}

function showReplicate({ id, isFailed, url, seconds }: Task): Script {
  const metrics = { predict_time: 61.2, video_output_duration_seconds: seconds }
  const end = isFailed
    ? { status: 'failed', error: 'refused', output: null }
    : { status: 'succeeded', error: null, output: [url] }
  return jsonScript({ id, model: 'owner/films', ...end, metrics })
}

function showOpenRouter({ id, isFailed, url, work: { costNanos = 0n } }: Task): Script {
  const usage = { cost: Number(costNanos) / 1e9 }
  const end = isFailed ? { status: 'failed', error: 'no' } : { status: 'completed', urls: [url] }
  return jsonScript({ id, ...end, usage })
}
