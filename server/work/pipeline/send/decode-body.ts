/**
 * Decompresses responses that are compressed although the request accepts no encoding, since their
 * bytes state what a call costs.
 */
import { finished, PassThrough, pipeline, type Readable, type Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import type { WireResponse } from '../../../wire/upstreams/wire.ts'

interface Encoding {
  readonly createDecoder: () => Transform
  /** Returns true if encoded data can begin with these two bytes; absent if any can. */
  readonly canBegin?: (first: number, second: number) => boolean
  /** Decodes data without these first bytes; absent if text may begin in the same way. */
  readonly createOther?: () => Transform
}

const GZIP: Encoding = {
  createDecoder: createGunzip,
  canBegin: (first, second) => first === 0x1f && second === 0x8b,
}

const ENCODINGS: ReadonlyMap<string, Encoding> = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  [
    'deflate',
    {
      createDecoder: createInflate,
      // The method, and a checksum over both bytes (RFC 1950).
      canBegin: (first, second) => (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0,
      // Without the header of RFC 1950, as some servers send it.
      createOther: createInflateRaw,
    },
  ],
  ['br', { createDecoder: createBrotliDecompress }],
  [
    'zstd',
    {
      createDecoder: createZstdDecompress,
      canBegin: (first, second) => first === 0x28 && second === 0xb5,
    },
  ],
])

/** Servers apply one. Each decoder costs its window of memory and a tenth of a millisecond. */
const LAYERS_MAX = 4

/** Returns the response itself if it has no encoding, one that is unknown, or too many. */
export function decodeBody(response: WireResponse): WireResponse {
  const names = readEncodings(response.headers['content-encoding'])
  if (names.length === 0 || names.length > LAYERS_MAX) return response
  let { body } = response
  // The encoding that is named last was applied last.
  for (const name of names.reverse()) {
    const encoding = ENCODINGS.get(name)
    if (!encoding) return response
    body = unpack(body, encoding)
  }
  return { ...response, body }
}

function readEncodings(header: string | string[] | undefined): string[] {
  if (header === undefined) return []
  const named = String(header).toLowerCase().split(',')
  return named.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity')
}

/** First bytes of JSON, of event streams and of pages. */
const TEXT_BEGINNINGS: ReadonlySet<number> = new Set(Buffer.from('{["<:deir \t\r\n'))

/** Passes data on unchanged if it is mislabelled plain text. */
function unpack(body: Readable, encoding: Encoding): Readable {
  const { createDecoder, canBegin, createOther } = encoding
  const out = new PassThrough()
  // Like the body itself, it may fail before its reader adds a listener.
  out.on('error', () => undefined)
  if (!canBegin) {
    connect([body, createDecoder(), out])
    return out
  }
  const onClose = () => body.destroy()
  const stopWatching = finished(body, { writable: false }, (error) => {
    if (error) out.destroy(error)
    else out.end()
  })
  const onReadable = () => {
    const start: Buffer | null = body.read(2)
    if (start === null) return
    stopWatching()
    body.off('readable', onReadable)
    out.off('close', onClose)
    body.unshift(start)
    const [first = 0, second = 0] = start
    const isText = TEXT_BEGINNINGS.has(first)
    const createOwn = canBegin(first, second) ? createDecoder : isText ? undefined : createOther
    connect(createOwn ? [body, createOwn(), out] : [body, out])
  }
  body.on('readable', onReadable)
  out.once('close', onClose)
  return out
}

/** Ends all streams if one of them fails or is destroyed. */
function connect(streams: readonly (Readable | Transform)[]): void {
  pipeline(streams as Transform[], () => undefined)
}
