/**
 * Compresses whole responses for callers that accept it. Event streams stay plain: compressing an
 * event costs 45 us of CPU, as much as everything else that is done for it, and bytes inside an
 * encoder are lost when a stream breaks off.
 */
import { brotliCompress, constants, deflate, gzip, zstdCompress } from 'node:zlib'

export type ContentEncoding = 'gzip' | 'deflate' | 'br' | 'zstd'

/** Preferred if weights are equal: for a large document, zstd takes an eighth of gzip's time. */
const FOR_DOCUMENTS: readonly ContentEncoding[] = ['zstd', 'br', 'gzip', 'deflate']

/** Shorter documents fit in a packet as they are. */
const DOCUMENT_BYTES_MIN = 1024
const DOCUMENT = /^(?:application\/json|text\/(?!event-stream))/i

/**
 * Returns the encoding of a document of this type and length; undefined leaves it plain. `accepted`
 * is the caller's Accept-Encoding.
 */
export function encodingOfDocument(
  accepted: string | undefined,
  type: string | undefined,
  bytes: number,
): ContentEncoding | undefined {
  if (accepted === undefined || bytes < DOCUMENT_BYTES_MIN) return undefined
  return DOCUMENT.test(type ?? '') ? choose(accepted, FOR_DOCUMENTS) : undefined
}

/** Returns the accepted encoding of the highest weight, unless plain bytes weigh more. */
function choose(
  accepted: string,
  preferred: readonly ContentEncoding[],
): ContentEncoding | undefined {
  const weights = readWeights(accepted)
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0
  let best: ContentEncoding | undefined
  let bestWeight = weights.get('identity') ?? 0
  for (const name of preferred) {
    const weight = weightOf(name)
    const isBetter = best === undefined ? weight >= bestWeight && weight > 0 : weight > bestWeight
    if (!isBetter) continue
    best = name
    bestWeight = weight
  }
  return best
}

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** Reads `gzip;q=0.8, br`. An encoding with an invalid weight is not accepted. */
function readWeights(accepted: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const item of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    const [parameter] = parameters
    const weight = parameter === undefined ? 1 : Number(WEIGHT.exec(parameter)?.[1] ?? 0)
    if (name !== '') weights.set(name.replace(/^x-gzip$/, 'gzip'), weight)
  }
  return weights
}

const BROTLI_QUALITY = 4

type Done = (error: Error | null, encoded: Buffer) => void

const DOCUMENT_ENCODERS: Readonly<Record<ContentEncoding, (document: Buffer, done: Done) => void>> =
  {
    gzip,
    deflate,
    zstd: zstdCompress,
    br(document, done) {
      const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY }
      brotliCompress(document, { params }, done)
    },
  }

/** Compresses off the event loop; `done` receives the document as it is if that fails. */
export function encodeDocument(
  encoding: ContentEncoding,
  document: Buffer,
  done: (encoded: Buffer, encoding: ContentEncoding | undefined) => void,
): void {
  DOCUMENT_ENCODERS[encoding](document, (error, encoded) => {
    if (error) done(document, undefined)
    else done(encoded, encoding)
  })
}
