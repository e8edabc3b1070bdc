/** The reading and the removal of video tasks, for both APIs. */
import { isTerminal, type TaskRow } from '../../../work/tasks/task.ts'
import type { PlainServices } from '../endpoint.ts'
import type { TaskReading } from '../task-endpoints.ts'
import { findReferences } from '../text/references/find-references.ts'
import {
  keepVideoParameters,
  listMediaUrls,
  readDraftId,
  readVideoParameters,
  refuseOwnMembers,
  useDraft,
  videoRequest,
} from './video-request.ts'

/** Bytes of a request, which may contain images. */
const VIDEO_BODY_BYTES_MAX = 64 * 1024 * 1024

export const videoReading: TaskReading = {
  kind: 'video',
  modelTypes: ['video'],
  bodyBytesMax: VIDEO_BODY_BYTES_MAX,
  takesPictures: true,
  schema: videoRequest,
  names: { find: (value) => findReferences(value) },
  check: refuseOwnMembers,
  model: ({ value }) => (typeof value.model === 'string' ? value.model : undefined),
  parameters: readVideoParameters,
  source: { id: readDraftId, use: useDraft },
  keep: keepVideoParameters,
  urls: listMediaUrls,
}

/** Cancels a waiting task, or removes a finished one from the lists. */
export async function removeVideo(row: TaskRow, { tasks }: PlainServices): Promise<void> {
  if (isTerminal(row.state)) await tasks.hide(row)
  else await tasks.cancel(row)
}
