/** The results of an account's tasks, and its uploaded files. */

import { z } from 'zod'
import { FILM_KINDS } from '../../../../base/lib/kinds-and-states.ts'
import { libraryEntry } from '../../../endpoints/files/library-entry.ts'
import { amount, count, page, paging, span, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const shared = { tag: 'Console: library' } as const

const entry = libraryEntry.extend({
  charged: amount.nullable().describe('Charge of its task; null until known.'),
})

const asset = entry.extend({
  erasing: z
    .object({ task_id: z.string(), since: time })
    .nullable()
    .describe('The running task that erases this video’s subtitles.'),
})

const file = z.object({
  id: z.string(),
  filename: z.string(),
  purpose: z.string(),
  bytes: count,
  content_type: z.string(),
  url: z.string().describe('Accessible to anyone who has it, until the file expires.'),
  created_at: time,
  expires_at: time,
})

const filters = {
  ...paging,
  ...span,
  model: text(200).optional(),
  task_id: text(200).optional(),
}

export const libraryContract = area(shared, {
  'GET /accounts/:account_id/gallery': {
    role: 'member',
    summary: 'List the images of an account',
    query: z.object(filters),
    answer: page(entry),
  },
  'DELETE /accounts/:account_id/gallery/:asset_id': {
    role: 'developer',
    summary: 'Delete an image',
  },
  'GET /accounts/:account_id/assets': {
    role: 'member',
    summary: 'List the videos, last frames and subtitle-free copies of an account',
    query: z.object({ ...filters, kind: z.enum(FILM_KINDS).optional() }),
    answer: page(asset),
  },
  'GET /accounts/:account_id/assets/:asset_id': {
    role: 'member',
    summary: 'Get an asset',
    answer: asset,
  },
  'DELETE /accounts/:account_id/assets/:asset_id': {
    role: 'developer',
    summary: 'Delete an asset',
  },
  'GET /accounts/:account_id/files': {
    role: 'member',
    summary: 'List the files of an account',
    query: z.object({ ...paging, purpose: text(64).optional() }),
    answer: page(file),
  },
  'POST /accounts/:account_id/files': {
    role: 'developer',
    summary: 'Upload a file',
    description: 'multipart/form-data as for POST /v1/files. Below 1 GB; free of charge.',
    answer: file,
    errors: [400, 408, 413, 415, 422],
  },
  'DELETE /accounts/:account_id/files/:file_id': {
    role: 'developer',
    summary: 'Delete a file',
  },
} as const satisfies Routes<keyof typeof shared>)
