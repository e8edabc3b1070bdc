/**
 * Measures a stored file that a caller names by its public link: its size and, for a recording, its
 * duration from its header. Reads from storage only, never over the network, and only headers.
 */
import type { Readable } from 'node:stream'
import type { Log } from '../lib/log.ts'
import { openWindow } from '../lib/media/open-window.ts'
import { readLength } from '../lib/media/read-length.ts'
import type { Library } from './library/library.ts'
import type { ByteRange } from './storage/storage.ts'
import type { Files } from './uploads/files.ts'

/** Limit for reading headers from slow storage; without them only the size is known. */
const HEADER_READ_MS = 5_000

export interface MeasuredContent {
  readonly bytes: number
  readonly type: string | undefined
  /** Duration of a recording, if its header states it for certain. */
  readonly seconds?: number | undefined
}

/** `missing`: the URL is ours, but no such content exists (any more). */
export type OwnMeasurement = MeasuredContent | 'missing'

interface Stored {
  readonly bytes: number
  readonly type: string | undefined
  read(range: ByteRange): Promise<Readable>
}

/** Returns a function that resolves to undefined for a URL that is not ours. */
export function createOwnMeter(parts: {
  readonly files: Pick<Files, 'findByToken' | 'read'>
  readonly library: Pick<Library, 'findByToken' | 'read'>
  readonly publicUrl: string
  readonly log: Log
}): (url: string) => Promise<OwnMeasurement | undefined> {
  const { files, library, log } = parts
  const own = URL.parse(`${parts.publicUrl}/`)

  async function find(kind: string, token: string): Promise<Stored | undefined> {
    if (kind === 'files') {
      const file = await files.findByToken(token)
      if (!file) return undefined
      const { bytes, content_type: type } = file
      return { bytes: Number(bytes), type, read: (range) => files.read(file, range) }
    }
    const asset = await library.findByToken(token)
    if (asset?.state !== 'stored') return undefined
    const { bytes, content_type: type } = asset
    const read = (range: ByteRange) => library.read(asset, range)
    return { bytes: Number(bytes), type: type ?? undefined, read }
  }

  return async (text) => {
    const url = URL.parse(text)
    if (!url || !own || url.origin !== own.origin || !url.pathname.startsWith(own.pathname)) {
      return undefined
    }
    const [kind = '', token = ''] = url.pathname.slice(own.pathname.length).split('/')
    if (kind !== 'files' && kind !== 'media') return undefined
    const stored = await find(kind, token)
    if (!stored) return 'missing'
    const { bytes, type } = stored
    const seconds = await inTime(lengthOf(stored)).catch((error: unknown) => {
      log.info({ error }, 'the duration of a file is unknown')
      return undefined
    })
    return { bytes, type, seconds }
  }
}

function lengthOf({ bytes, read }: Stored): Promise<number | undefined> {
  const readRange = async (start: number, end: number) => {
    return collect(await read({ start, end }), end - start + 1)
  }
  return readLength(openWindow(bytes, readRange))
}

async function collect(content: Readable, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks).subarray(0, bytesMax)
}

async function inTime<T>(work: Promise<T>): Promise<T | undefined> {
  const timeout = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => timeout.resolve(undefined), HEADER_READ_MS)
  try {
    return await Promise.race([work, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
