/**
 * Measures a stored file that a caller names by its public link: its size and, for a recording, its
 * duration from its header. Reads from storage only, never over the network, and only headers.
 */
import type { Readable } from 'node:stream'
import type { Log } from '../../base/lib/log.ts'
import { openWindow } from '../../base/lib/media/open-window.ts'
import { readLength } from '../../base/lib/media/read-length.ts'
import type { FindOwnContent, OwnContent } from './own-content.ts'

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

/** Returns a function that resolves to undefined for a URL that is not ours. */
export function createOwnMeter(
  find: FindOwnContent,
  log: Log,
): (url: string) => Promise<OwnMeasurement | undefined> {
  return async (url) => {
    const stored = await find(url)
    if (!stored || stored === 'missing') return stored
    const { bytes, type } = stored
    const seconds = await inTime(lengthOf(stored)).catch((error: unknown) => {
      log.info({ error }, 'the duration of a file is unknown')
      return undefined
    })
    return { bytes, type, seconds }
  }
}

function lengthOf({ bytes, read }: OwnContent): Promise<number | undefined> {
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
