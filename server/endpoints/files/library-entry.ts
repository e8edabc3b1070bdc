/** The public form of an entry of the gallery or the asset library. */
import { z } from 'zod'
import type { AssetRow } from '../../assets/library/asset-store.ts'
import type { Library } from '../../assets/library/library.ts'

const HOUR_MS = 3_600_000
/**
 * Age up to which subtitles can be erased from a video: the vendor's link to it lives 24 hours
 * (docs/protocols/ark.md#video-tasks), and an hour is left for the work.
 */
const ERASE_MS = 23 * HOUR_MS

export const libraryEntry = z.object({
  id: z.string(),
  object: z.enum(['image', 'asset']),
  kind: z.enum(['image', 'video', 'last_frame', 'erased']),
  url: z
    .string()
    .nullable()
    .describe('The gateway’s once stored; before that the vendor’s, or null when it has expired.'),
  copy: z.object({
    state: z.enum(['waiting', 'stored', 'failed']),
    expires_at: z.iso.datetime().optional().describe('Expiry of the vendor’s link.'),
    error: z.string().optional().describe('Error of the last copy attempt.'),
  }),
  task_id: z.string(),
  request_id: z.string().describe('The request id of its charge: GET /v1/usage/{request_id}.'),
  model: z.string(),
  prompt: z.string().optional().describe('For images, until the entry is deleted.'),
  original_id: z.string().optional().describe('For an erased copy: the entry of its original.'),
  content_type: z.string().optional(),
  bytes: z.int().optional(),
  width: z.int().optional(),
  height: z.int().optional(),
  duration: z.number().optional().describe('Seconds.'),
  erase_until: z.iso.datetime().optional().describe('Deadline for erasing its subtitles.'),
  created_at: z.iso.datetime(),
})

function present<T>(name: string, value: T | null): Record<string, T> {
  return value === null ? {} : { [name]: value }
}

export function describeLibraryEntry(
  row: AssetRow,
  library: Library,
): z.infer<typeof libraryEntry> {
  const isStored = row.state === 'stored'
  const eraseUntil = new Date(row.created_at.getTime() + ERASE_MS).toISOString()
  return {
    id: row.id,
    object: row.kind === 'image' ? 'image' : 'asset',
    kind: row.kind,
    url: library.linkOf(row) ?? null,
    copy: {
      state: row.state,
      ...(isStored ? {} : { expires_at: row.source_expires_at.toISOString() }),
      ...(isStored ? {} : present('error', row.failure)),
    },
    task_id: row.task_id,
    request_id: row.request_id,
    model: row.model,
    ...present('prompt', row.prompt),
    ...present('original_id', row.original_id),
    ...present('content_type', row.content_type),
    ...present('bytes', row.bytes === null ? null : Number(row.bytes)),
    ...present('width', row.width),
    ...present('height', row.height),
    ...present('duration', row.seconds),
    ...(row.kind === 'video' ? { erase_until: eraseUntil } : {}),
    created_at: row.created_at.toISOString(),
  }
}
