/**
 * The gallery (images) and the asset library (videos, last frames, erased copies) of an account:
 * two shelves of the same kind of entry (spec 3.1, 4.5).
 */
import { z } from 'zod'
import type { AssetRow } from '../assets/asset-store.ts'
import type { AssetKind } from '../assets/collect-assets.ts'
import type { Library } from '../assets/library.ts'
import { GatewayError, invalidField } from '../errors.ts'
import { commonHeaders, sendJson } from '../http/reply.ts'
import type { AccountEndpoint } from './endpoint.ts'

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 200
const HOUR_MS = 3_600_000
/** Spec part 8: only videos made less than 23 hours ago can lose their subtitles. */
const ERASE_MS = 23 * HOUR_MS
const TAG = 'Library'

const entry = z.object({
  id: z.string(),
  object: z.enum(['image', 'asset']),
  kind: z.enum(['image', 'video', 'last_frame', 'erased']),
  url: z
    .string()
    .nullable()
    .describe('Ours once it is stored; before, the vendor’s while that lives, then null.'),
  copy: z.object({
    state: z.enum(['waiting', 'stored', 'failed']),
    expires_at: z.iso.datetime().optional().describe('Until when the vendor’s link lives.'),
    error: z.string().optional().describe('Why the last try to copy it failed.'),
  }),
  task_id: z.string(),
  request_id: z.string().describe('What it cost: GET /v1/usage/{request_id}.'),
  model: z.string(),
  prompt: z.string().optional().describe('Of images, until the entry is deleted.'),
  original_id: z.string().optional().describe('Of an erased copy: the entry of its original.'),
  content_type: z.string().optional(),
  bytes: z.int().optional(),
  width: z.int().optional(),
  height: z.int().optional(),
  duration: z.number().optional().describe('Seconds.'),
  erase_until: z.iso.datetime().optional().describe('Until when its subtitles can be erased.'),
  created_at: z.iso.datetime(),
})

function present<T>(name: string, value: T | null): Record<string, T> {
  return value === null ? {} : { [name]: value }
}

function describeEntry(row: AssetRow, library: Library): z.infer<typeof entry> {
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

/** The database refuses text with NUL characters. */
const filterText = z
  .string()
  .max(200)
  .refine((text) => !text.includes('\0'), 'must not hold NUL characters')

const galleryQuery = z.object({
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
  cursor: z
    .string()
    .regex(/^asset_[0-9A-Za-z]{1,64}$/, 'not a cursor of this list')
    .optional()
    .describe('next_cursor of the page before.'),
  from: z.coerce.date().optional().describe('Made at or after this time.'),
  to: z.coerce.date().optional().describe('Made before this time.'),
  model: filterText.optional(),
  task_id: filterText.optional(),
})

const assetsQuery = galleryQuery.extend({
  kind: z.enum(['video', 'last_frame', 'erased']).optional(),
})

interface Shelf {
  readonly path: string
  readonly kinds: readonly AssetKind[]
  readonly query: z.ZodType<z.output<typeof assetsQuery>>
  readonly example: z.infer<typeof entry>
  /** As in "no such …". */
  readonly one: string
}

const EXAMPLE_IMAGE = {
  id: 'asset_7Hn2VbQx4LcWkZs9TfRm1D',
  object: 'image',
  kind: 'image',
  url: 'https://gateway.example/media/0J8s/image.png',
  copy: { state: 'stored' },
  task_id: 'task_9cTz0bWkYc5RfNj7H3vQx8',
  request_id: 'req_5YxqZ0b3nD8vKc1TfWmA9h',
  model: 'an-image-model',
  prompt: 'A lighthouse in fog, pencil.',
  content_type: 'image/png',
  bytes: 1_204_511,
  width: 2048,
  height: 2048,
  created_at: '2026-11-21T09:31:24.000Z',
} satisfies z.input<typeof entry>

const EXAMPLE_VIDEO = {
  id: 'asset_2LcWkZs9TfRm1D7Hn2VbQx',
  object: 'asset',
  kind: 'video',
  url: 'https://gateway.example/media/1K9t/video.mp4',
  copy: { state: 'stored' },
  task_id: 'task_3vQx8LmTz0bWkYc5RfNj7H',
  request_id: 'req_8vKc1TfWmA9h5YxqZ0b3nD',
  model: 'a-video-model',
  content_type: 'video/mp4',
  bytes: 7_340_032,
  duration: 5,
  erase_until: '2026-11-22T08:31:24.000Z',
  created_at: '2026-11-21T09:31:24.000Z',
} satisfies z.input<typeof entry>

const GALLERY: Shelf = {
  path: '/v1/gallery',
  kinds: ['image'],
  query: galleryQuery,
  example: EXAMPLE_IMAGE,
  one: 'image',
}

const ASSETS: Shelf = {
  path: '/v1/assets',
  kinds: ['video', 'last_frame', 'erased'],
  query: assetsQuery,
  example: EXAMPLE_VIDEO,
  one: 'asset',
}

function listOf(shelf: Shelf, summary: string): AccountEndpoint {
  return {
    kind: 'account',
    method: 'GET',
    paths: [shelf.path],
    envelope: 'flat',
    documentation: {
      summary,
      description: 'Newest first.',
      tag: TAG,
      query: shelf.query,
      answer: z.object({ data: z.array(entry), next_cursor: z.string().nullable() }),
      example: () => ({
        path: `${shelf.path}?limit=2`,
        answer: { data: [shelf.example], next_cursor: null },
      }),
      errors: [400, 403, 503],
    },
    async handle(context, { accountId }, { library }) {
      const parsed = shelf.query.safeParse(Object.fromEntries(context.query))
      if (!parsed.success) {
        const [issue] = parsed.error.issues
        throw invalidField(String(issue?.path[0] ?? 'query'), issue?.message ?? 'invalid')
      }
      const { limit, cursor, from, to, model, task_id: taskId, kind } = parsed.data
      const rows = await library.list({
        ...{ accountId, limit: limit + 1, kinds: kind ? [kind] : shelf.kinds },
        ...(cursor ? { after: cursor } : {}),
        ...(from ? { from } : {}),
        ...(to ? { to } : {}),
        ...(model ? { model } : {}),
        ...(taskId ? { taskId } : {}),
      })
      const page = rows.slice(0, limit)
      const nextCursor = rows.length > limit ? (page.at(-1)?.id ?? null) : null
      const data = page.map((row) => describeEntry(row, library))
      sendJson(context, 200, { data, next_cursor: nextCursor })
    },
  }
}

/** Foreign, unknown and malformed ids read alike, and so do those of the other shelf. */
function missing(shelf: Shelf): GatewayError {
  return new GatewayError('not_found', { message: `no such ${shelf.one}` })
}

function getOf(shelf: Shelf, summary: string): AccountEndpoint {
  return {
    kind: 'account',
    method: 'GET',
    paths: [`${shelf.path}/:asset_id`],
    envelope: 'flat',
    documentation: {
      summary,
      tag: TAG,
      answer: entry,
      example: () => ({ path: `${shelf.path}/${shelf.example.id}`, answer: shelf.example }),
      errors: [403, 404, 503],
    },
    async handle(context, { accountId }, { library }) {
      const row = await library.find(accountId, shelf.kinds, context.params.asset_id ?? '')
      if (!row) throw missing(shelf)
      sendJson(context, 200, describeEntry(row, library))
    },
  }
}

function deleteOf(shelf: Shelf, summary: string): AccountEndpoint {
  return {
    kind: 'account',
    method: 'DELETE',
    paths: [`${shelf.path}/:asset_id`],
    envelope: 'flat',
    documentation: {
      summary,
      description: 'The stored bytes and the prompt go with it; the record of its cost stays.',
      tag: TAG,
      answersNothing: true,
      example: () => ({ path: `${shelf.path}/${shelf.example.id}` }),
      errors: [403, 404, 503],
    },
    async handle(context, { accountId }, { library }) {
      const id = context.params.asset_id ?? ''
      if (!(await library.remove(accountId, shelf.kinds, id))) throw missing(shelf)
      context.response.writeHead(204, commonHeaders(context)).end()
    },
  }
}

export const listGallery = listOf(GALLERY, 'List the images of the gallery')
export const getGalleryImage = getOf(GALLERY, 'Get an image of the gallery')
export const deleteGalleryImage = deleteOf(GALLERY, 'Delete an image of the gallery')
export const listAssets = listOf(ASSETS, 'List the assets of the library')
export const getAsset = getOf(ASSETS, 'Get an asset of the library')
export const deleteAsset = deleteOf(ASSETS, 'Delete an asset of the library')
