/**
 * The gallery (images) and the asset library (videos, last frames, erased copies) of an account:
 * two lists of the same kind of entry.
 */

import { z } from 'zod'
import { checkQuery } from '../../../base/http/check-shape.ts'
import { toPage } from '../../../base/http/page.ts'
import { commonHeaders, sendJson } from '../../../base/http/reply.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { type AssetKind, FILM_KINDS } from '../../../base/lib/kinds-and-states.ts'
import { encode, givenTime, page } from '../codecs.ts'
import type { AccountEndpoint } from '../endpoint.ts'
import { libraryEntry, readEntry } from './library-entry.ts'

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 200
const TAG = 'Library'

const filterText = z.string().max(200)

const galleryQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
  cursor: z
    .string()
    .regex(/^asset_[0-9A-Za-z]{1,64}$/, 'not a cursor of this list')
    .optional()
    .describe('next_cursor of the previous page.'),
  from: givenTime.optional().describe('Created at or after this time.'),
  to: givenTime.optional().describe('Created before this time.'),
  model: filterText.optional(),
  task_id: filterText.optional(),
})

const assetsQuery = galleryQuery.extend({
  kind: z.enum(FILM_KINDS).optional(),
})

interface EntryList {
  readonly path: string
  readonly kinds: readonly AssetKind[]
  readonly query: z.ZodType<z.output<typeof assetsQuery>>
  readonly example: z.input<typeof libraryEntry>
  /** The noun in "no such …". */
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
} satisfies z.input<typeof libraryEntry>

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
} satisfies z.input<typeof libraryEntry>

const GALLERY: EntryList = {
  path: '/v1/gallery',
  kinds: ['image'],
  query: galleryQuery,
  example: EXAMPLE_IMAGE,
  one: 'image',
}

const ASSETS: EntryList = {
  path: '/v1/assets',
  kinds: FILM_KINDS,
  query: assetsQuery,
  example: EXAMPLE_VIDEO,
  one: 'asset',
}

const entryPage = page(libraryEntry)

function listOf(list: EntryList, summary: string): AccountEndpoint {
  return {
    kind: 'account',
    method: 'GET',
    paths: [list.path],
    envelope: 'flat',
    documentation: {
      summary,
      description: 'Newest first.',
      tag: TAG,
      query: list.query,
      answer: entryPage,
      example: () => ({
        path: `${list.path}?limit=2`,
        answer: { data: [list.example], next_cursor: null },
      }),
      errors: [400, 403, 503],
    },
    async handle(context, { accountId }, { library }) {
      const filter = checkQuery(list.query, context.query)
      const { limit, cursor, from, to, model, task_id: taskId, kind } = filter
      const rows = await library.list({
        accountId,
        limit: limit + 1,
        kinds: kind ? [kind] : list.kinds,
        after: cursor,
        from,
        to,
        model,
        taskId,
      })
      const entries = rows.map((row) => readEntry(row, library))
      sendJson(context, 200, encode(entryPage, toPage(entries, limit, 'id')))
    },
  }
}

/** The 404 for foreign, unknown and malformed ids, and for ids of the other list. */
function missing(list: EntryList): GatewayError {
  return new GatewayError('not_found', { message: `no such ${list.one}` })
}

function getOf(list: EntryList, summary: string): AccountEndpoint {
  return {
    kind: 'account',
    method: 'GET',
    paths: [`${list.path}/:asset_id`],
    envelope: 'flat',
    documentation: {
      summary,
      description: 'Its URL works until the copy is deleted; then the entry is gone too.',
      tag: TAG,
      answer: libraryEntry,
      example: () => ({ path: `${list.path}/${list.example.id}`, answer: list.example }),
      errors: [403, 404, 503],
    },
    async handle(context, { accountId }, { library }) {
      const row = await library.find(accountId, list.kinds, context.params.asset_id ?? '')
      if (!row) throw missing(list)
      sendJson(context, 200, encode(libraryEntry, readEntry(row, library)))
    },
  }
}

function deleteOf(list: EntryList, summary: string): AccountEndpoint {
  return {
    kind: 'account',
    method: 'DELETE',
    paths: [`${list.path}/:asset_id`],
    envelope: 'flat',
    documentation: {
      summary,
      description: 'Deletes the stored bytes and the prompt; the record of its charge remains.',
      tag: TAG,
      answersNothing: true,
      example: () => ({ path: `${list.path}/${list.example.id}` }),
      errors: [403, 404, 503],
    },
    async handle(context, { accountId }, { library }) {
      const id = context.params.asset_id ?? ''
      if (!(await library.remove(accountId, list.kinds, id))) throw missing(list)
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
