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
import { GatewayError } from '../lib/errors.ts'
import { sendContinue } from './expect-continue.ts'

/** Decoded bytes of one encoded byte. Applies beyond a size at which memory starts to matter. */
const RATIO_MAX = 100
const UNRATED_BYTES = 8 * 1024 * 1024

/** The window that every decoder must support and none has to exceed (RFC 9659). */
const ZSTD_WINDOW_LOG_MAX = 23

/** Some clients send deflate without its zlib header, whose first byte names the method, 8. */
function createDeflateDecoder([first = 0]: Buffer) {
  return (first & 0x0f) === 8 ? createInflate() : createInflateRaw()
}

const DECODERS = {
  gzip: () => createGunzip(),
  deflate: createDeflateDecoder,
  br: () => createBrotliDecompress(),
  zstd: () =>
    createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }),
} as const

type Encoding = keyof typeof DECODERS

const ENCODINGS = Object.keys(DECODERS).join(', ')

/**
 * Returns the content of a request: the request itself if it is not encoded. Throws 413 for a
 * declared length beyond `bytesMax`, and 415 for another encoding. A decoded stream fails with a
 * GatewayError: 413 beyond `bytesMax`, 400 for data that cannot be decoded or is cut off.
 */
export function openContent(request: IncomingMessage, bytesMax: number): Readable {
  const encoding = readEncoding(request.headers['content-encoding'])
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw bodyTooLarge(bytesMax)
  sendContinue(request)
  return encoding ? decode(request, encoding, bytesMax) : request
}

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

function decode(request: IncomingMessage, encoding: Encoding, bytesMax: number): Readable {
  let decoder: ReturnType<(typeof DECODERS)[Encoding]> | undefined
  let bytes = 0
  const bounded = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > bytesMax) done(bodyTooLarge(bytesMax))
      else if (bytes > UNRATED_BYTES && bytes > RATIO_MAX * (decoder?.bytesWritten ?? 0)) {
        const message = `the body expands to more than ${RATIO_MAX} times its size`
        done(new GatewayError('too_large', { message }))
      } else done(null, chunk)
    },
  })
  // The request is never destroyed: its connection carries the response.
  request.once('data', (first: Buffer) => {
    decoder = DECODERS[encoding](first)
    decoder.once('error', (cause) => {
      const message = `the body is not ${encoding} data, or is cut off`
      bounded.destroy(new GatewayError('invalid_request', { message, cause }))
    })
    decoder.pipe(bounded)
    decoder.write(first)
    request.pipe(decoder)
  })
  request.once('end', () => {
    if (!decoder) bounded.end()
  })
  request.once('close', () => {
    if (!request.complete) bounded.destroy(bodyCutOff())
  })
  bounded.once('close', () => {
    if (!decoder) return
    request.unpipe(decoder)
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
