/** The public form of an entry of the gallery or the asset library. */

import { z } from 'zod'
import { ASSET_KINDS, COPY_STATES } from '../../../base/lib/kinds-and-states.ts'
import type { AssetRow } from '../../../work/assets/library/asset-store.ts'
import type { Library } from '../../../work/assets/library/library.ts'
import { count, type SchemaRow, time, unlessNull } from '../codecs.ts'

const HOUR_MS = 3_600_000
/**
 * Age up to which subtitles can be erased from a video: the vendor's link to it lives 24 hours
 * (docs/protocols/ark.md#video-tasks), and an hour is left for the work.
 */
const ERASE_MS = 23 * HOUR_MS

export const libraryEntry = z.object({
  id: z.string(),
  object: z.enum(['image', 'asset']),
  kind: z.enum(ASSET_KINDS),
  url: z
    .string()
    .nullable()
    .describe('The gateway’s once stored; before that the vendor’s, or null when it has expired.'),
  copy: z.object({
    state: z.enum(COPY_STATES),
    expires_at: unlessNull(time).describe('Expiry of the vendor’s link.'),
    error: unlessNull(z.string()).describe('Error of the last copy attempt.'),
  }),
  task_id: z.string(),
  request_id: z.string().describe('The request id of its charge: GET /v1/usage/{request_id}.'),
  model: z.string(),
  prompt: unlessNull(z.string()).describe('For images, until the entry is deleted.'),
  original_id: unlessNull(z.string()).describe(
    'For a copy without subtitles: the entry of its original.',
  ),
  content_type: unlessNull(z.string()),
  bytes: unlessNull(count),
  width: unlessNull(z.int()),
  height: unlessNull(z.int()),
  duration: unlessNull(z.number()).describe('Seconds.'),
  erase_until: unlessNull(time).describe('Deadline for erasing its subtitles.'),
  created_at: time,
})

export function readEntry(row: AssetRow, library: Library): SchemaRow<typeof libraryEntry> {
  const isStored = row.state === 'stored'
  return {
    ...row,
    object: row.kind === 'image' ? 'image' : 'asset',
    url: library.linkOf(row) ?? null,
    copy: {
      state: row.state,
      expires_at: isStored ? null : row.source_expires_at,
      error: isStored ? null : row.failure,
    },
    duration: row.seconds,
    erase_until: row.kind === 'video' ? new Date(row.created_at.getTime() + ERASE_MS) : null,
  }
}
