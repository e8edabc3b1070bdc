/**
 * Encodes a video task in the form of ARK's `contents/generations/tasks` API, with the upstream's
 * own id (docs/protocols/ark.md#video-task-states), for clients written for that API.
 */
import type { JsonObject } from '../../../base/lib/json.ts'
import { type TaskView, toSeconds } from '../task-view.ts'

/** Error codes that the native form shows as states; the gateway's state for all is `failed`. */
export const CODES_OF_STATUS = {
  cancelled: ['cancelled'],
  expired: ['task_expired', 'expired'],
} as const

const STATUS_OF_CODE: ReadonlyMap<string, string> = new Map(
  Object.entries(CODES_OF_STATUS).flatMap(([status, codes]) =>
    codes.map((code) => [code, status] as const),
  ),
)

const ECHOED = [
  'service_tier',
  'execution_expires_after',
  'generate_audio',
  'priority',
  'draft',
  'draft_task_id',
  'tools',
  'safety_identifier',
] as const
const EFFECTIVE = ['seed', 'resolution', 'ratio', 'duration', 'frames', 'revised_prompt'] as const

export function statusOf({ state, error }: TaskView): string {
  if (state === 'processing') return 'running'
  return (error && STATUS_OF_CODE.get(error.code)) ?? state
}

/** Returns the answer to a creation: id, model, status and time, and no further member. */
export function encodeContentsCreated(task: TaskView): JsonObject {
  return {
    id: task.nativeId,
    model: task.model,
    status: statusOf(task),
    created_at: task.createdAt.toISOString(),
  }
}

export function encodeContentsTask(task: TaskView): JsonObject {
  const { request, result, error } = task
  const { video_url, last_frame_url, usage, frames_per_second: fps } = result
  const pick = (from: JsonObject, names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name) => ((from[name] ?? null) === null ? [] : [[name, from[name]]])),
    )
  return {
    id: task.nativeId,
    model: task.model,
    status: statusOf(task),
    error: error ?? null,
    created_at: toSeconds(task.createdAt),
    updated_at: toSeconds(task.finishedAt ?? task.updatedAt),
    ...(video_url === undefined ? {} : { content: { video_url, last_frame_url } }),
    usage,
    ...pick(request, [...ECHOED, ...EFFECTIVE]),
    ...pick(result, [...ECHOED, ...EFFECTIVE]),
    ...(fps === undefined ? {} : { framespersecond: fps }),
  }
}
