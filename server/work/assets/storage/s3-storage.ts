/**
 * Storage in an object store that speaks S3, with the AWS SDK, which is loaded at the first
 * request. Content is sent in parts while it arrives, with one part in memory; an upload that fails
 * is aborted.
 */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { S3Client } from '@aws-sdk/client-s3'
import { randomText } from '../../../base/lib/ids.ts'
import { member } from '../../../base/lib/json.ts'
import { type WatchTimes, watchFetch } from '../../../base/outbound/fetch-watched.ts'
import { bucketOf, type ObjectStore, openS3Client } from './s3-client.ts'
import { ContentMissing, createMeter, type Storage, StorageUnavailable } from './storage.ts'

const KEY_START = 's3-'
const KEY = /^s3-[A-Za-z0-9]{32}$/
/** Codes of an object that is not there, or of a range beyond its end. */
const MISSING: ReadonlySet<unknown> = new Set(['NoSuchKey', 'InvalidRange'])

export const isS3Key = (key: string): boolean => KEY.test(key)

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
  const { address, bucket } = bucketOf(settings)
  // A refusal is an answer too, so a probe needs no signature.
  const watched = watchFetch((by) => by(address, { method: 'HEAD' }), onChange, times)
  let opened: Promise<S3Client> | undefined
  const open = () => {
    opened ??= openS3Client(settings, watched.fetch)
    return opened
  }

  function check(key: string): void {
    if (!isS3Key(key)) throw new Error('not a key of this storage')
  }

  return {
    newKey: () => `${KEY_START}${randomText(32)}`,
    async write(key, content, limitBytes) {
      check(key)
      // Checked before the content is read, which may be a gigabyte from a caller.
      await ask(async () => watched.check())
      const [{ Upload }, client] = await Promise.all([import('@aws-sdk/lib-storage'), open()])
      const meter = createMeter(limitBytes)
      // A failure of this pipeline surfaces while the parts are read.
      const feeding = pipeline(content, meter.stream).catch(() => undefined)
      const params = { Bucket: bucket, Key: key, Body: meter.stream }
      try {
        await ask(() => new Upload({ client, params, queueSize: 1 }).done())
      } catch (error) {
        const { errored } = meter.stream
        throw errored && member(error, 'cause') === errored ? errored : error
      } finally {
        meter.stream.destroy()
        await feeding
      }
      return meter.written()
    },
    async read(key, range) {
      check(key)
      const { GetObjectCommand } = await load()
      const Range = range && `bytes=${range.start}-${range.end}`
      const request = new GetObjectCommand({ Bucket: bucket, Key: key, Range })
      const { Body: body, $metadata } = await ask(async () => (await open()).send(request))
      if (!(body instanceof Readable)) throw new StorageUnavailable('the object store sent nothing')
      if (range && $metadata.httpStatusCode !== 206) {
        body.destroy()
        throw new StorageUnavailable('the object store does not support ranges')
      }
      return body
    },
    async *list() {
      const [{ paginateListObjectsV2 }, client] = await Promise.all([load(), open()])
      const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: KEY_START })
      for (;;) {
        const { done, value } = await ask(() => pages.next())
        if (done) return
        yield (value.Contents ?? []).map(({ Key = '' }) => Key).filter(isS3Key)
      }
    },
    async remove(key) {
      check(key)
      const [{ DeleteObjectCommand }, client] = await Promise.all([load(), open()])
      await ask(() => client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key })))
      await dropUploads(client, bucket, key)
    },
  }
}

/** Aborts unfinished uploads of this key that a crash has left. Not every store can list them. */
async function dropUploads(client: S3Client, bucket: string, key: string): Promise<void> {
  const { AbortMultipartUploadCommand, ListMultipartUploadsCommand } = await load()
  const listed = await client
    .send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: key }))
    .catch(() => undefined)
  for (const { Key, UploadId } of listed?.Uploads ?? []) {
    if (Key !== key) continue
    const upload = { Bucket: bucket, Key, UploadId }
    await ask(() => client.send(new AbortMultipartUploadCommand(upload)))
  }
}

const load = () => import('@aws-sdk/client-s3')

/** Rejects with ContentMissing or StorageUnavailable, and the store's own error as the cause. */
async function ask<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const name = member(cause, 'name')
    const status = member(member(cause, '$metadata'), 'httpStatusCode')
    const Fault = MISSING.has(name) ? ContentMissing : StorageUnavailable
    throw new Fault(`the object store${status ? ` (${name}, ${status})` : ''}`, { cause })
  }
}
