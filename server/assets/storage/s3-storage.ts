/**
 * Bytes in an object store that speaks S3. Content is sent in parts while it arrives, so that no
 * more than one part is in memory, and whatever is not finished is aborted.
 */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { S3mini } from 's3mini'
import { randomText } from '../../lib/ids.ts'
import { isObject, member } from '../../lib/json.ts'
import { fetchBounded } from '../../outbound/fetch-bounded.ts'
import { createMeter, type Storage, StorageTrouble } from './storage.ts'

export interface ObjectStore {
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** The least that stores take; they take up to 10,000. Every upload has one in memory. */
const PART_BYTES = 5 * 1024 * 1024
const TRIES = 3
const PAUSE_MS = 250
const KEY = /^s3-[A-Za-z0-9]{32}$/

export const isS3Key = (key: string): boolean => KEY.test(key)

export function createS3Storage(settings: ObjectStore): Storage {
  const { accessKeyId, secretAccessKey, region } = settings
  const endpoint = addressOf(settings)
  const store = new S3mini({ accessKeyId, secretAccessKey, region, endpoint, fetch: fetchBounded })

  function check(key: string): void {
    if (!isS3Key(key)) throw new Error('not a key of this storage')
  }

  return {
    newKey: () => `s3-${randomText(32)}`,
    async write(key, content, limitBytes) {
      check(key)
      const meter = createMeter(limitBytes)
      // Its failures come out of the parts.
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
      // The library's range leaves out its end.
      const answer = range
        ? await store.getObjectRaw(key, false, range.start, range.end + 1)
        : await store.getObjectRaw(key)
      if (!answer.body) throw new StorageTrouble('the object store sent no content')
      if (range && answer.status !== 206) {
        await answer.body.cancel()
        throw new StorageTrouble('the object store knows no ranges')
      }
      return Readable.from(answer.body)
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

/** The bucket may already be the first name of the host. */
function addressOf({ endpoint, bucket }: ObjectStore): string {
  const { hostname } = new URL(endpoint)
  return hostname.startsWith(`${bucket}.`) ? endpoint : `${endpoint}/${bucket}`
}

/** Content in pieces of one part each, the last one shorter. */
async function* gatherParts(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of content) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes < PART_BYTES) continue
    const part = Buffer.concat(chunks)
    // Nothing but the part is kept while it is sent.
    chunks = []
    bytes = 0
    yield part
  }
  yield Buffer.concat(chunks)
}

/** What fits into one part is sent at once. */
async function send(store: S3mini, key: string, parts: AsyncGenerator<Buffer>): Promise<void> {
  const first = await parts.next()
  const begin: Buffer = first.done ? Buffer.alloc(0) : first.value
  if (begin.length < PART_BYTES) {
    await insist(() => store.putObject(key, begin))
    return
  }
  const uploadId = await insist(() => store.getMultipartUploadId(key))
  try {
    await sendParts(store, { key, uploadId }, begin, parts)
  } catch (error) {
    await store.abortMultipartUpload(key, uploadId).catch(() => undefined)
    throw error
  }
}

async function sendParts(
  store: S3mini,
  { key, uploadId }: { readonly key: string; readonly uploadId: string },
  begin: Buffer,
  rest: AsyncGenerator<Buffer>,
): Promise<void> {
  const sent: { partNumber: number; etag: string }[] = []
  const sendOne = async (part: Buffer) => {
    const partNumber = sent.length + 1
    const done = await insist(() => store.uploadPart(key, uploadId, part, partNumber))
    if (done.etag === '') throw new StorageTrouble('the object store took a part without a word')
    sent.push(done)
  }
  await sendOne(begin)
  for await (const part of rest) if (part.length > 0) await sendOne(part)
  const done = await insist(() => store.completeMultipartUpload(key, uploadId, sent))
  // A failure to put the parts together comes with status 200.
  if (!done.etag) throw new StorageTrouble('the object store did not put the parts together')
}

/** Repeats what may be repeated; what fails in the end is the store's fault. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (cause) {
      const status = member(cause, 'status')
      const isFinal = typeof status === 'number' && status >= 400 && status < 500
      if (isFinal || attempt === TRIES) throw new StorageTrouble('the object store', { cause })
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * 2 ** attempt))
    }
  }
}

/** Uploads of this key that a crash left. A store that cannot list them clears them by itself. */
async function listUnfinished(store: S3mini, key: string): Promise<string[]> {
  const listed = await store
    .listMultipartUploads('/', '', 'GET', { prefix: key })
    .catch(() => undefined)
  return findUploads(listed, key)
}

/** One entry or many, under names that begin small or large. */
function findUploads(listed: unknown, key: string): string[] {
  if (Array.isArray(listed)) return listed.flatMap((one) => findUploads(one, key))
  if (!isObject(listed)) return []
  const id = member(listed, 'uploadId') ?? member(listed, 'UploadId')
  const owner = member(listed, 'key') ?? member(listed, 'Key')
  if (typeof id === 'string') return owner === key ? [id] : []
  return Object.values(listed).flatMap((one) => findUploads(one, key))
}
