/**
 * Answers that come compressed although nobody named an encoding. Their bytes state what a call
 * cost, so they are unpacked on the way.
 */
import { pipeline, type Readable, type Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import type { WireResponse } from '../../upstreams/wire.ts'

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
])

/** The response itself without an encoding, or with one that is not known. */
export function decodeBody(response: WireResponse): WireResponse {
  const encodings = readEncodings(response.headers['content-encoding'])
  if (encodings.length === 0) return response
  let { body } = response
  // The last one named was applied last.
  for (const encoding of encodings.reverse()) {
    const decoder = DECODERS.get(encoding)
    if (!decoder) return response
    body = unpack(body, decoder())
  }
  return { ...response, body }
}

function readEncodings(header: string | string[] | undefined): string[] {
  if (header === undefined) return []
  const named = String(header).toLowerCase().split(',')
  return named.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity')
}

/** Either end that fails or is given up ends the other. */
function unpack(body: Readable, decoder: Transform): Readable {
  pipeline(body, decoder, () => undefined)
  return decoder
}
