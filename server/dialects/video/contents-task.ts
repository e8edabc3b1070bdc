/**
 * A video task in the form of the native `contents/generations/tasks` API (upstreams.md 6.5), with
 * the upstream's own id: what clients of that API read without knowing of a gateway.
 */
import type { JsonObject } from '../../lib/json.ts'
import type { VideoTask } from './video-task.ts'

/** The gateway knows one way to fail; the native form tells two of its reasons apart. */
export const CODES_OF_STATUS = {
  cancelled: ['cancelled'],
  expired: ['task_expired', 'expired'],
} as const

const STATUS_OF_CODE: ReadonlyMap<string, string> = new Map(
  Object.entries(CODES_OF_STATUS).flatMap(([status, codes]) =>
    codes.map((code) => [code, status] as const),
  ),
)

const ECHOED = ['service_tier', 'generate_audio', 'safety_identifier'] as const
const EFFECTIVE = ['seed', 'resolution', 'ratio', 'duration', 'frames', 'revised_prompt'] as const

export function statusOf({ state, error }: VideoTask): string {
  if (state === 'processing') return 'running'
  return (error && STATUS_OF_CODE.get(error.code)) ?? state
}

/** The answer to a creation: nothing but what that API and the specification name. */
export function encodeContentsCreated(task: VideoTask): JsonObject {
  return {
    id: task.nativeId,
    model: task.model,
    status: statusOf(task),
    created_at: task.createdAt.toISOString(),
  }
}

export function encodeContentsTask(task: VideoTask): JsonObject {
  const { request, result, error } = task
  const { video_url, last_frame_url, usage, frames_per_second: fps } = result
  const pick = (from: JsonObject, names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])),
    )
  return {
    id: task.nativeId,
    model: task.model,
    status: statusOf(task),
    error: error ?? null,
    created_at: seconds(task.createdAt),
    updated_at: seconds(task.finishedAt ?? task.updatedAt),
    ...(video_url === undefined
      ? {}
      : { content: { video_url, ...(last_frame_url === undefined ? {} : { last_frame_url }) } }),
    ...(usage === undefined ? {} : { usage }),
    ...pick(request, ECHOED),
    ...pick(request, EFFECTIVE),
    ...pick(result, EFFECTIVE),
    ...(fps === undefined ? {} : { framespersecond: fps }),
  }
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}
