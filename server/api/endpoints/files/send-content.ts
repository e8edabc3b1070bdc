/** Sends stored bytes, whole or a single range, so that clients can seek and resume. */
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Context } from '../../../base/http/context.ts'
import { commonHeaders, sendBytes } from '../../../base/http/reply.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { readRange, type Slice } from '../../../work/assets/read-range.ts'
import { type ByteRange, ContentMissing } from '../../../work/assets/storage/storage.ts'

export interface StoredContent {
  /** The bytes of one id never change. */
  readonly id: string
  readonly length: number
  readonly contentType: string
  /** The file name that a browser suggests when it saves the content. */
  readonly filename: string
  readonly modifiedAt: Date
  read(range: ByteRange): Promise<Readable>
}

/** Media types that a browser may display. All others are sent as downloads. */
const SHOWN = /^(?:image|audio|video)\//

/** Answers GET and HEAD. Throws 503 if the storage is unavailable, 404 if it lost the content. */
export async function sendContent(context: Context, content: StoredContent): Promise<void> {
  const { request, response } = context
  const headers = headersOf(content)
  if (isKnown(request.headers['if-none-match'], headers.etag)) {
    response.writeHead(304, { ...commonHeaders(context), ...headers }).end()
    return
  }
  const range = rangeOf(context, content, headers.etag)
  if (range === 'unsatisfiable') {
    const none = { ...headers, 'content-range': `bytes */${content.length}` }
    sendBytes(context, 416, none, Buffer.alloc(0))
    return
  }
  const slice = range ?? { start: 0, end: content.length - 1 }
  const head = {
    ...commonHeaders(context),
    ...headers,
    'content-length': String(slice.end - slice.start + 1),
    ...(range ? { 'content-range': `bytes ${slice.start}-${slice.end}/${content.length}` } : {}),
  }
  if (request.method === 'HEAD') {
    response.writeHead(range ? 206 : 200, head).end()
    return
  }
  const body = await content.read(slice).catch((cause: unknown) => {
    if (!(cause instanceof ContentMissing))
      throw new GatewayError('unavailable', { retryAfterSeconds: 5, cause })
    const message = 'the content of this file is lost: store it again'
    throw new GatewayError('not_found', { message, code: 'content_lost', cause })
  })
  try {
    response.writeHead(range ? 206 : 200, head)
    await pipeline(body, response).catch(() => response.destroy())
  } finally {
    // If the caller left before the pipeline began, the content must still be closed.
    body.destroy()
  }
}

function headersOf({ id, contentType, filename, modifiedAt }: StoredContent) {
  const isShown = SHOWN.test(contentType)
  return {
    'content-type': contentType,
    'accept-ranges': 'bytes',
    etag: `"${id}"`,
    'last-modified': modifiedAt.toUTCString(),
    'cache-control': 'private, max-age=3600',
    'content-security-policy': "sandbox; default-src 'none'",
    'content-disposition': `${isShown ? 'inline' : 'attachment'}; ${nameOf(filename)}`,
  }
}

/** Returns the file name in ASCII, and unchanged for clients that support RFC 8187. */
function nameOf(filename: string): string {
  const plain = filename.replaceAll(/[^\w .()-]/g, '_')
  const marks = /['()*]/g
  const whole = encodeURIComponent(filename).replaceAll(
    marks,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `filename="${plain}"; filename*=UTF-8''${whole}`
}

function rangeOf(
  { request }: Context,
  { length }: StoredContent,
  etag: string,
): Slice | 'unsatisfiable' | undefined {
  // A client that resumes a download of an earlier version gets the whole content.
  const condition = request.headers['if-range']
  if (condition !== undefined && condition !== etag) return undefined
  return readRange(request.headers.range, length)
}

function isKnown(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
