/** Decodes request bodies with a Content-Encoding, within limits on what they may expand to. */
import type { IncomingMessage } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import { chunkSizeFor } from '../lib/detect-packed.ts'
import { GatewayError } from '../lib/errors.ts'
import type { Gathering } from '../lib/memory/gathering.ts'
import { accountOf, type Context, takePortion } from './context.ts'
import { sendContinue } from './expect-continue.ts'

/** Decoded bytes of one encoded byte. Applies beyond a size at which memory starts to matter. */
const RATIO_MAX = 100
const UNRATED_BYTES = 8 * 1024 * 1024

/** The window that every decoder must support and none has to exceed (RFC 9659). */
const ZSTD_WINDOW_LOG_MAX = 23

/** Some clients send deflate without its zlib header, whose first byte names the method, 8. */
function createDeflateDecoder([first = 0]: Buffer, chunkSize: number) {
  return (first & 0x0f) === 8 ? createInflate({ chunkSize }) : createInflateRaw({ chunkSize })
}

/** Each function gets the first bytes, and the size of its buffers. */
const DECODERS = {
  gzip: (_first: Buffer, chunkSize: number) => createGunzip({ chunkSize }),
  deflate: createDeflateDecoder,
  br: (_first: Buffer, chunkSize: number) => createBrotliDecompress({ chunkSize }),
  zstd: (_first: Buffer, chunkSize: number) =>
    createZstdDecompress({
      chunkSize,
      params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
    }),
} as const

type Encoding = keyof typeof DECODERS

const ENCODINGS = Object.keys(DECODERS).join(', ')

/** The window that each decoder may keep of what it has decoded. */
const WINDOW_BYTES: Readonly<Record<Encoding, number>> = {
  gzip: 32 * 1024,
  deflate: 32 * 1024,
  br: 16 * 1024 * 1024,
  zstd: 8 * 1024 * 1024,
}

/** The longest time that a body waits for a decoder. */
const DECODER_WAIT_MS = 20_000
const TOO_MANY = 'this account has too many encoded bodies in progress here: send fewer at once'

/**
 * Tells a caller that waits to send the body, and returns its encoding. Throws 413 for a declared
 * length beyond `bytesMax`, and 415 for an unknown encoding.
 */
export function openEncoded(request: IncomingMessage, bytesMax: number): Encoding | undefined {
  const encoding = readEncoding(request.headers['content-encoding'])
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw bodyTooLarge(bytesMax)
  sendContinue(request)
  return encoding
}

/**
 * Calls `read` with the content of a request as it arrives: the request itself if it is not
 * encoded. Rejects with 413 for a declared length beyond `bytesMax`, 415 for another encoding, and
 * 429 or 503 without room for a decoder. A decoded stream fails with a GatewayError: 413 beyond
 * `bytesMax`, 400 for data that cannot be decoded or is cut off.
 */
export async function readContent<T>(
  context: Context,
  bytesMax: number,
  read: (content: Readable) => Promise<T>,
): Promise<T> {
  const { request } = context
  const encoding = openEncoded(request, bytesMax)
  if (!encoding) return read(request)
  const portion = takePortion(context, 'request')
  const window = WINDOW_BYTES[encoding]
  if (!portion.grow(window)) throw portion.refuse(window, TOO_MANY)
  const count = (bytes: number) => {
    context.bodyBytes += bytes
  }
  return readDecoded(
    decode(request, encoding, bytesMax, () => request.readableEnded, count),
    read,
  )
}

/** Ends the stream in any case; an error before or after it is read is ignored. */
async function readDecoded<T>(content: Readable, read: (content: Readable) => Promise<T>) {
  content.on('error', ignore)
  try {
    return await read(content)
  } finally {
    content.destroy()
  }
}

/**
 * Decodes a body only after it has arrived completely, since a few bytes may expand to many, which
 * a caller could keep in memory by withholding the last one. `read` gets the content, which fails
 * as that of `readContent`. Rejects with 429 or 503 without a free decoder.
 */
export async function decodeGathered(
  context: Context,
  sent: Gathering,
  encoding: Encoding,
  bytesMax: number,
  read: (content: Readable) => Promise<void>,
): Promise<void> {
  const portion = context.memory.decoders.portion(accountOf(context), 'decoder')
  if (!(await portion.growSoon(1, DECODER_WAIT_MS))) throw portion.refuse(1, TOO_MANY)
  try {
    context.checkAgain?.()
    const source = sent.stream()
    const content = decode(source, encoding, bytesMax, () => source.readableEnded)
    // It may be read from a disk, which can fail.
    source.once('error', (cause) => content.destroy(cause))
    await readDecoded(content, read).finally(() => source.destroy())
  } finally {
    portion.release()
  }
}

const ignore = (): void => undefined

function readEncoding(header: string | undefined): Encoding | undefined {
  if (header === undefined) return undefined
  const name = header
    .trim()
    .toLowerCase()
    .replace(/^x-gzip$/, 'gzip')
  if (name === '' || name === 'identity') return undefined
  if (Object.hasOwn(DECODERS, name)) return name as Encoding
  const message = `send the body in one of these content encodings, or in none: ${ENCODINGS}`
  throw new GatewayError('unsupported_media', { message, acceptEncoding: ENCODINGS })
}

function decode(
  source: Readable,
  encoding: Encoding,
  bytesMax: number,
  isWhole: () => boolean,
  count: (bytes: number) => void = () => undefined,
): Readable {
  let decoder: ReturnType<(typeof DECODERS)[Encoding]> | undefined
  let bytes = 0
  let arrivedBytes = 0
  let onProgress = ignore
  const refuse = (cause?: unknown) => {
    const message = `the body is not ${encoding} data, or is cut off`
    bounded.destroy(new GatewayError('invalid_request', { message, cause }))
  }
  const bounded = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      count(chunk.length)
      if (bytes > bytesMax) done(bodyTooLarge(bytesMax))
      else if (bytes > UNRATED_BYTES && bytes > RATIO_MAX * (decoder?.bytesWritten ?? 0)) {
        const message = `the body expands to more than ${RATIO_MAX} times its size`
        done(new GatewayError('too_large', { message }))
      } else done(null, chunk)
    },
    /** Refuses bytes after the end of the data: all decoders except gzip's would ignore them. */
    flush(done) {
      const decodedBytes = decoder?.bytesWritten ?? 0
      if (decoder) source.unpipe(decoder)
      onProgress = () => {
        if (arrivedBytes > decodedBytes) refuse()
        else if (!source.readableEnded) source.resume()
        else {
          onProgress = ignore
          done()
        }
      }
      onProgress()
    },
  })
  // A request is never destroyed: its connection carries the response.
  const onData = (chunk: Buffer) => {
    arrivedBytes += chunk.length
    onProgress()
  }
  source.on('data', onData)
  source.once('data', (first: Buffer) => {
    decoder = DECODERS[encoding](first, chunkSizeFor(first.length))
    decoder.once('error', refuse)
    decoder.pipe(bounded)
    decoder.write(first)
    source.pipe(decoder)
  })
  source.once('end', () => {
    if (!decoder) bounded.end()
    onProgress()
  })
  source.once('close', () => {
    if (!isWhole()) bounded.destroy(bodyCutOff())
  })
  bounded.once('close', () => {
    source.off('data', onData)
    if (!decoder) return
    source.unpipe(decoder)
    // The rest of the body is discarded, since the connection serves further requests.
    source.resume()
    decoder.destroy()
  })
  return bounded
}

export function bodyTooLarge(bytesMax: number): GatewayError {
  return new GatewayError('too_large', { message: `request body is larger than ${bytesMax} bytes` })
}

export function bodyCutOff(cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', { message: 'the request body was cut off', cause })
}
