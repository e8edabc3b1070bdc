/** The forms of a file's metadata: OpenAI's, or Anthropic's for callers that send its version. */
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { linkToFile } from '../../../work/assets/links.ts'
import type { FileRow } from '../../../work/assets/uploads/file-store.ts'
import { count, encode, time, unixTime } from '../codecs.ts'

const url = z.string().describe('Accessible to anyone who has it, until the file expires.')

export const file = z.object({
  id: z.string(),
  object: z.literal('file'),
  bytes: count,
  created_at: unixTime.describe('Unix seconds.'),
  filename: z.string(),
  purpose: z.string(),
  status: z.literal('processed').describe('A file can be used at once.'),
  url,
  expires_at: unixTime.describe('Unix seconds.'),
})

const messagesFile = z.object({
  id: z.string(),
  type: z.literal('file'),
  filename: z.string(),
  mime_type: z.string(),
  size_bytes: count,
  created_at: time,
  expires_at: time,
  downloadable: z.literal(true),
  url,
})

/** The sentence in the documentation of each endpoint that answers in both forms. */
export const FORMS = 'With the header `anthropic-version`, the answer is in the form of that API.'

const isMessages = (headers: IncomingHttpHeaders) => headers['anthropic-version'] !== undefined

export function showFile(row: FileRow, publicUrl: string, headers: IncomingHttpHeaders) {
  const url = linkToFile(publicUrl, row)
  if (!isMessages(headers)) {
    return encode(file, { ...row, object: 'file', status: 'processed', url })
  }
  const { content_type: mime_type, bytes: size_bytes } = row
  const named = { mime_type, size_bytes, type: 'file', downloadable: true } as const
  return encode(messagesFile, { ...row, ...named, url })
}

interface FilesPage {
  readonly rows: readonly FileRow[]
  readonly hasMore: boolean
}

export function showFiles(
  { rows, hasMore }: FilesPage,
  publicUrl: string,
  headers: IncomingHttpHeaders,
) {
  const data = rows.map((row) => showFile(row, publicUrl, headers))
  const [first, last] = [rows[0]?.id ?? null, rows.at(-1)?.id ?? null]
  const page = { data, has_more: hasMore, first_id: first, last_id: last }
  if (!isMessages(headers)) return { object: 'list', ...page }
  return { ...page, next_page: hasMore ? last : null }
}

export function showDeleted(id: string, headers: IncomingHttpHeaders) {
  return isMessages(headers) ? { id, type: 'file_deleted' } : { id, object: 'file', deleted: true }
}
