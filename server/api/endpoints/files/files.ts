/** Uploads of callers, for tasks and for vendors that fetch them by URL. */
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { checkQuery, checkShape } from '../../../base/http/check-shape.ts'
import { expectUpload } from '../../../base/http/connections/slow-uploads.ts'
import type { Context } from '../../../base/http/context.ts'
import { readContent } from '../../../base/http/decode-content.ts'
import { readIdempotencyKey } from '../../../base/http/idempotency-key.ts'
import { sendJson } from '../../../base/http/reply.ts'
import { GatewayError, invalidField } from '../../../base/lib/errors.ts'
import type { FileRow } from '../../../work/assets/uploads/file-store.ts'
import type { Files } from '../../../work/assets/uploads/files.ts'
import { readUpload, type UploadForm } from '../../../work/assets/uploads/read-upload.ts'
import type { AccountEndpoint, PlainEndpoint, PlainServices } from '../endpoint.ts'
import { FORMS, file, showDeleted, showFile, showFiles } from './file-form.ts'
import { sendContent } from './send-content.ts'

const TAG = 'Files'
const DAY_SECONDS = 86_400
const LIFE_SECONDS = { min: 3600, max: 30 * DAY_SECONDS, default: 30 * DAY_SECONDS }
/** As in OpenAI's API. */
const LIMIT_MAX = 10_000
/** A page has no more: `has_more` tells clients of the rest. */
const PAGE_MAX = 1_000
/** Of a whole upload, decoded: a file below 1 GB and the form around it. */
const UPLOAD_BYTES_MAX = 1_001_000_000
const PAGE_DEFAULT = 20

const EXAMPLE = {
  id: 'file_4YbXq2Lr9Wd3Zk7Tn5Vm1C',
  object: 'file',
  bytes: 482_113,
  created_at: 1_795_253_400,
  filename: 'meeting.mp3',
  purpose: 'user_data',
  status: 'processed',
  url: 'https://gateway.example/files/0J8s/meeting.mp3',
  expires_at: 1_797_845_400,
} satisfies z.input<typeof file>

const lifetime = z.coerce.number().int().min(LIFE_SECONDS.min).max(LIFE_SECONDS.max).optional()
const fields = z.object({
  purpose: z.string().min(1).max(64).default('user_data'),
  'expires_after[seconds]': lifetime,
  expires_in_seconds: lifetime,
})

/** Reads an upload as it arrives. Throws GatewayError: 400, 408, 413, 415 and 422. */
export function receiveFile(context: Context, accountId: string, files: Files) {
  expectUpload(context.request)
  const idempotencyKey = readIdempotencyKey(context.request.headers)
  const take = (filename: string, file: Readable, form: UploadForm) =>
    files.add({
      accountId,
      requestId: context.requestId,
      idempotencyKey,
      filename,
      content: file,
      declaredBytes: Number(context.request.headers['content-length'] ?? 0),
      async fields() {
        await form.whole
        const read = checkShape(fields, Object.fromEntries(form.fields))
        const lifeSeconds = read['expires_after[seconds]'] ?? read.expires_in_seconds
        return { purpose: read.purpose, lifeSeconds: lifeSeconds ?? LIFE_SECONDS.default }
      },
    })
  return readContent(context, UPLOAD_BYTES_MAX, (content) =>
    readUpload(context.request, content, { take }),
  )
}

export const uploadFile: AccountEndpoint = {
  kind: 'account',
  method: 'POST',
  paths: ['/v1/files'],
  envelope: 'nested',
  documentation: {
    summary: 'Upload a file',
    description:
      'multipart/form-data with `file` and, optionally, `purpose` and ' +
      '`expires_after[seconds]` (an hour to 30 days). Below 1 GB; free of charge. ' +
      'Repeating it with the same Idempotency-Key within 24 hours creates no second file. ' +
      FORMS,
    tag: TAG,
    headers: z.object({
      'Idempotency-Key': z
        .string()
        .min(1)
        .max(255)
        .optional()
        .describe('Your own name for the upload.'),
    }),
    answer: file,
    example: () => ({ form: { file: '@meeting.mp3', purpose: 'user_data' }, answer: EXAMPLE }),
    errors: [400, 408, 413, 415, 422, 429, 503],
  },
  async handle(context, caller, { files, publicUrl }) {
    const { file: row, isReplay } = await receiveFile(context, caller.accountId, files)
    const replayed = { 'idempotent-replayed': row.request_id ?? row.id }
    sendJson(
      context,
      200,
      showFile(row, publicUrl, context.request.headers),
      isReplay ? replayed : {},
    )
  },
}

const listQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIMIT_MAX)
    .default(PAGE_DEFAULT)
    .describe(`Most files of the page, which has ${PAGE_MAX} at most.`),
  order: z.enum(['asc', 'desc']).default('desc'),
  after: z.string().max(100).optional().describe('The id of the last file of the previous page.'),
  purpose: z.string().max(64).optional(),
  page: z.string().max(100).optional().describe('next_page of the previous page.'),
})

/** Parameters of the messages API without which a page has other files than were asked for. */
const UNTAKEN = ['ids', 'ids[]', 'scope_id', 'before_id', 'after_id'] as const

export const listUploads: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/files'],
  envelope: 'nested',
  documentation: {
    summary: 'List files',
    description: `Newest first. ${FORMS}`,
    tag: TAG,
    query: listQuery,
    answer: z.object({
      object: z.literal('list'),
      data: z.array(file),
      has_more: z.boolean(),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
    }),
    example: () => ({ path: '/v1/files?limit=2' }),
    errors: [400, 503],
  },
  async handle(context, { accountId }, { files, publicUrl }) {
    const { order, purpose, ...query } = checkQuery(listQuery, context.query)
    const limit = Math.min(query.limit, PAGE_MAX)
    const after = query.after ?? query.page
    for (const name of UNTAKEN) {
      if (context.query.has(name)) throw invalidField(name, 'is not supported here')
    }
    const last = after === undefined ? undefined : await files.find(accountId, after)
    if (after !== undefined && !last)
      throw invalidField(query.after ? 'after' : 'page', 'no such file')
    const newestFirst = order === 'desc'
    const rows = await files.list({
      accountId,
      newestFirst,
      purpose,
      after: last,
      limit: limit + 1,
    })
    const page = { rows: rows.slice(0, limit), hasMore: rows.length > limit }
    sendJson(context, 200, showFiles(page, publicUrl, context.request.headers))
  },
}

/** The 404 for foreign, unknown and malformed ids. */
function missing(): GatewayError {
  return new GatewayError('not_found', { message: 'no such file' })
}

export const getFile: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/files/:file_id'],
  envelope: 'nested',
  documentation: {
    summary: 'Get a file’s metadata',
    description: `Name, size, purpose and the time at which it expires. ${FORMS}`,
    tag: TAG,
    answer: file,
    example: () => ({ path: `/v1/files/${EXAMPLE.id}`, answer: EXAMPLE }),
    errors: [404, 503],
  },
  async handle(context, { accountId }, { files, publicUrl }) {
    const row = await files.find(accountId, context.params.file_id ?? '')
    if (!row) throw missing()
    sendJson(context, 200, showFile(row, publicUrl, context.request.headers))
  },
}

export const deleteUpload: AccountEndpoint = {
  kind: 'account',
  method: 'DELETE',
  paths: ['/v1/files/:file_id'],
  envelope: 'nested',
  documentation: {
    summary: 'Delete a file',
    description: `Its public URL answers 404 from then on. ${FORMS}`,
    tag: TAG,
    answer: z.object({ id: z.string(), object: z.literal('file'), deleted: z.literal(true) }),
    example: () => ({ path: `/v1/files/${EXAMPLE.id}` }),
    errors: [404, 503],
  },
  async handle(context, { accountId }, { files }) {
    const id = context.params.file_id ?? ''
    if (!(await files.remove(accountId, id))) throw missing()
    sendJson(context, 200, showDeleted(id, context.request.headers))
  },
}

export const getFileContent: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/files/:file_id/content'],
  envelope: 'nested',
  documentation: {
    summary: 'Get a file’s content',
    description: 'A single byte range gets 206.',
    tag: TAG,
    answerType: 'application/octet-stream',
    example: () => ({ path: `/v1/files/${EXAMPLE.id}/content` }),
    errors: [404, 503],
  },
  async handle(context, { accountId }, services) {
    const row = await services.files.find(accountId, context.params.file_id ?? '')
    if (!row) throw missing()
    await sendFile(context, row, services)
  },
}

/** Serves the address in `url`, without a key, for vendors that fetch the file. */
export const getPublicFile: PlainEndpoint = {
  kind: 'plain',
  method: 'GET',
  paths: ['/files/:token/:filename'],
  envelope: 'nested',
  documentation: {
    summary: 'Get a file by its public URL',
    description: 'No key is needed: the URL is the secret.',
    tag: TAG,
    answerType: 'application/octet-stream',
    example: () => ({ path: '/files/0J8s/meeting.mp3' }),
    errors: [404, 503],
  },
  async handle(context, services) {
    const row = await services.files.findByToken(context.params.token ?? '')
    if (!row) throw missing()
    await sendFile(context, row, services)
  },
}

async function sendFile(context: Context, row: FileRow, { files }: PlainServices) {
  await sendContent(context, {
    // A client with only the URL must not learn the file's id.
    id: `${row.token.slice(0, 12)}-${row.bytes}`,
    length: Number(row.bytes),
    contentType: row.content_type,
    filename: row.filename,
    modifiedAt: row.created_at,
    read: (range) => files.read(row, range),
  })
}
