/** The reading and the removal of video tasks, for both APIs. */
import type { Body, NamedContent } from '../../../work/pipeline/metering.ts'
import { isTerminal, type TaskRow } from '../../../work/tasks/task.ts'
import type { PlainServices } from '../endpoint.ts'
import type { TaskReading } from '../task-endpoints.ts'
import { findReferences } from '../text/references/find-references.ts'
import {
  checkVideoRequest,
  keepVideoParameters,
  listMediaUrls,
  readDraftId,
  readVideoParameters,
  useDraft,
  videoRequest,
} from './video-request.ts'

/** Bytes of a request, which may contain images. */
const VIDEO_BODY_BYTES_MAX = 64 * 1024 * 1024
const LIBRARY = /^asset:\/\//i

export const videoReading: TaskReading = {
  kind: 'video',
  modelTypes: ['video'],
  bodyBytesMax: VIDEO_BODY_BYTES_MAX,
  takesPictures: true,
  schema: videoRequest,
  names: { find: findStored },
  check: checkVideoRequest,
  model: ({ value }) => (typeof value.model === 'string' ? value.model : undefined),
  parameters: readVideoParameters,
  source: { id: readDraftId, use: useDraft },
  keep: keepVideoParameters,
  urls: listMediaUrls,
}

/**
 * Returns the stored objects that a request names at the vendor, except the pictures of its
 * library: only the vendor or the operator puts those there, and their ids cannot be guessed.
 */
function findStored(value: Body): NamedContent {
  const { references, identified } = findReferences(value)
  const isOfLibrary = (id: unknown) => typeof id === 'string' && LIBRARY.test(id)
  return { identified, references: references.filter(({ id }) => !isOfLibrary(id)) }
}

/** Cancels a waiting task, or removes a finished one from the lists. */
export async function removeVideo(row: TaskRow, { tasks }: PlainServices): Promise<void> {
  if (isTerminal(row.state)) await tasks.hide(row)
  else await tasks.cancel(row)
}
