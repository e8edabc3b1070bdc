/**
 * Storage in an object store that speaks S3. Content is sent in parts while it arrives, with at
 * most one part in memory; an upload that fails is aborted.
 */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { S3mini } from 's3mini'
import { randomText } from '../../lib/ids.ts'
import { isObject, member } from '../../lib/json.ts'
import {
  readWatched,
  ServerAway,
  type WatchTimes,
  watchFetch,
} from '../../outbound/fetch-watched.ts'
import { ContentMissing, createMeter, type Storage, StorageUnavailable } from './storage.ts'

export interface ObjectStore {
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** The minimum part size of S3, which allows up to 10,000 parts. Each upload buffers one. */
const PART_BYTES = 5 * 1024 * 1024
const ATTEMPTS_MAX = 3
const BACKOFF_MS = 250
const KEY_START = 's3-'
const KEY = /^s3-[A-Za-z0-9]{32}$/
/** Keys of one page of a list: the maximum of S3. */
const PAGE = 1_000
/** Codes of an object that is not there, or of a range beyond its end. */
const MISSING: ReadonlySet<unknown> = new Set(['NoSuchKey', 'InvalidRange'])

export const isS3Key = (key: string): boolean => KEY.test(key)

/** Silence in the middle of an object after which it is given up. */
const IDLE_MS = 10_000

export interface S3Options {
  /** Called with false when the store stops answering, and with true when it is back. */
  readonly onChange?: (isThere: boolean) => void
  /** Replaced by tests. */
  readonly times?: WatchTimes
}

export function createS3Storage(
  settings: ObjectStore,
  { onChange = () => undefined, times }: S3Options = {},
): Storage {
  const { accessKeyId, secretAccessKey, region } = settings
  const endpoint = addressOf(settings)
  const open = (by: typeof fetch) =>
    new S3mini({ accessKeyId, secretAccessKey, region, endpoint, fetch: by })
  const watched = watchFetch((by) => open(by).bucketExists(), onChange, times)
  const store = open(watched.fetch)

  function check(key: string): void {
    if (!isS3Key(key)) throw new Error('not a key of this storage')
  }

  return {
    newKey: () => `${KEY_START}${randomText(32)}`,
    async write(key, content, limitBytes) {
      check(key)
      // Before the content is read, which may be a caller's gigabyte.
      await withRetries(async () => watched.check())
      const meter = createMeter(limitBytes)
      // A failure of this pipeline surfaces while the parts are read.
      const feeding = pipeline(content, meter.stream).catch(() => undefined)
      try {
        await send(store, key, gatherParts(meter.stream))
      } finally {
        meter.stream.destroy()
        await feeding
      }
      return meter.written()
    },
    async read(key, range) {
      check(key)
      // The end of the library's range is exclusive.
      const answer = await (range
        ? store.getObjectRaw(key, false, range.start, range.end + 1)
        : store.getObjectRaw(key)
      ).catch(explainRead)
      if (!answer.body) throw new StorageUnavailable('the object store sent no content')
      if (range && answer.status !== 206) {
        await answer.body.cancel()
        throw new StorageUnavailable('the object store does not support ranges')
      }
      return Readable.from(readWatched(answer.body, IDLE_MS), { objectMode: false })
    },
    async *list() {
      let token: string | undefined
      do {
        const page = await withRetries(() => store.listObjectsPaged('/', KEY_START, PAGE, token))
        if (!page?.objects) throw new StorageUnavailable('the object store has no such bucket')
        yield page.objects.map(({ Key }) => Key).filter(isS3Key)
        token = page.nextContinuationToken
      } while (token !== undefined)
    },
    async remove(key) {
      check(key)
      await store.deleteObject(key)
      for (const uploadId of await listUnfinished(store, key)) {
        await store.abortMultipartUpload(key, uploadId)
      }
    },
  }
}

/** Returns the URL of the bucket, which may already be the first label of the host. */
function addressOf({ endpoint, bucket }: ObjectStore): string {
  const { hostname } = new URL(endpoint)
  return hostname.startsWith(`${bucket}.`) ? endpoint : `${endpoint}/${bucket}`
}

/** Groups content into parts of at least PART_BYTES; the last one is shorter. */
async function* gatherParts(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of content) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes < PART_BYTES) continue
    const part = Buffer.concat(chunks)
    // Release the chunks: while a part is sent, it is all that stays in memory.
    chunks = []
    bytes = 0
    yield part
  }
  yield Buffer.concat(chunks)
}

/** Uploads content: with a single PUT if it fits into one part, else as a multipart upload. */
async function send(store: S3mini, key: string, parts: AsyncGenerator<Buffer>): Promise<void> {
  const first = await parts.next()
  const firstPart: Buffer = first.done ? Buffer.alloc(0) : first.value
  if (firstPart.length < PART_BYTES) {
    await withRetries(() => store.putObject(key, firstPart))
    return
  }
  const uploadId = await withRetries(() => store.getMultipartUploadId(key))
  try {
    await sendParts(store, { key, uploadId }, firstPart, parts)
  } catch (error) {
    await store.abortMultipartUpload(key, uploadId).catch(() => undefined)
    throw error
  }
}

async function sendParts(
  store: S3mini,
  { key, uploadId }: { readonly key: string; readonly uploadId: string },
  firstPart: Buffer,
  rest: AsyncGenerator<Buffer>,
): Promise<void> {
  const sent: { partNumber: number; etag: string }[] = []
  const sendPart = async (part: Buffer) => {
    const partNumber = sent.length + 1
    const uploaded = await withRetries(() => store.uploadPart(key, uploadId, part, partNumber))
    if (uploaded.etag === '') throw new StorageUnavailable('the object store returned no ETag')
    sent.push(uploaded)
  }
  await sendPart(firstPart)
  for await (const part of rest) if (part.length > 0) await sendPart(part)
  const completed = await withRetries(() => store.completeMultipartUpload(key, uploadId, sent))
  // S3 reports a failed completion with status 200.
  if (!completed.etag) throw new StorageUnavailable('the object store did not complete the upload')
}

/** Retries except after a 4xx, with backoff. Rejects with StorageUnavailable. */
async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (cause) {
      const status = member(cause, 'status')
      const isRefused = typeof status === 'number' && status >= 400 && status < 500
      const isFinal = isRefused || isServerAway(cause)
      if (isFinal || attempt === ATTEMPTS_MAX) {
        throw new StorageUnavailable('the object store', { cause })
      }
      await new Promise((resolve) => setTimeout(resolve, BACKOFF_MS * 2 ** attempt))
    }
  }
}

/** The library may wrap what its `fetch` throws. */
function isServerAway(error: unknown): boolean {
  return (
    error instanceof ServerAway || (error instanceof Error && error.cause instanceof ServerAway)
  )
}

function explainRead(error: unknown): never {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const code = member(cause, 'serviceCode') ?? member(cause, 'code')
  const Fault = MISSING.has(code) ? ContentMissing : StorageUnavailable
  throw new Fault('the object store', { cause })
}

/** Lists uploads of this key that a crash left. Empty for a store that cannot list them. */
async function listUnfinished(store: S3mini, key: string): Promise<string[]> {
  const listed = await store
    .listMultipartUploads('/', '', 'GET', { prefix: key })
    .catch(() => undefined)
  return findUploads(listed, key)
}

/** Collects upload ids from one entry or many; member names vary in their first letter's case. */
function findUploads(listed: unknown, key: string): string[] {
  if (Array.isArray(listed)) return listed.flatMap((entry) => findUploads(entry, key))
  if (!isObject(listed)) return []
  const id = member(listed, 'uploadId') ?? member(listed, 'UploadId')
  const owner = member(listed, 'key') ?? member(listed, 'Key')
  if (typeof id === 'string') return owner === key ? [id] : []
  return Object.values(listed).flatMap((entry) => findUploads(entry, key))
}
