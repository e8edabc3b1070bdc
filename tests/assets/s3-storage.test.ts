import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, before, beforeEach, describe, test } from 'node:test'
import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import { bucketOf, openS3Client } from '../../server/work/assets/storage/s3-client.ts'
import { createS3Storage } from '../../server/work/assets/storage/s3-storage.ts'
import {
  type Storage,
  StorageUnavailable,
  TooManyBytes,
} from '../../server/work/assets/storage/storage.ts'
import { CREDENTIALS, type S3Server, startS3Server } from '../support/s3-server.ts'

const MB = 1024 * 1024
let store: S3Server
let storage: Storage

before(async () => {
  store = await startS3Server()
  storage = open()
})
after(() => store.stop())
beforeEach(() => {
  store.objects.clear()
  store.uploads.clear()
  store.requests.length = 0
  store.faults.length = 0
})

function open(change: Partial<typeof CREDENTIALS & { region: string }> = {}): Storage {
  const { S3_ENDPOINT = '', S3_BUCKET = '', S3_REGION = '' } = store.environment
  const place = { endpoint: S3_ENDPOINT, bucket: S3_BUCKET, region: S3_REGION }
  const { region = S3_REGION, ...keys } = change
  return createS3Storage({ ...place, region, keys: { ...CREDENTIALS, ...keys } })
}

/** In chunks as a socket would bring them. */
function* cut(content: Buffer, bytes = 60_000) {
  for (let at = 0; at < content.length; at += bytes) yield content.subarray(at, at + bytes)
}

const write = (content: Buffer, key = storage.newKey(), limit = 100 * MB) =>
  storage.write(key, Readable.from(cut(content)), limit).then((written) => ({ key, ...written }))

describe('an object store', () => {
  for (const bytes of [1, 5 * MB - 1, 5 * MB, 5 * MB + 1, 17 * MB]) {
    test(`takes ${bytes} bytes and gives them back, whole and in part`, async () => {
      const content = randomBytes(bytes)
      const { key, bytes: counted, head } = await write(content)
      assert.equal(counted, bytes)
      assert.deepEqual(head, content.subarray(0, 64 * 1024))
      assert.ok(content.equals(await buffer(await storage.read(key))))
      const range = { start: Math.floor(bytes / 2), end: bytes - 1 }
      const part = await buffer(await storage.read(key, range))
      assert.ok(content.subarray(range.start).equals(part))
      assert.equal(store.uploads.size, 0)
      await storage.remove(key)
      assert.equal(store.objects.size, 0)
      await assert.rejects(storage.read(key))
      await storage.remove(key)
    })
  }

  test('has no more than a few parts of a large upload in memory', async () => {
    const chunk = randomBytes(1 * MB)
    let waiting = 0
    let most = 0
    function* produce() {
      for (let count = 0; count < 64; count += 1) {
        waiting += 1
        most = Math.max(
          most,
          waiting - 5 * store.requests.filter((one) => one === 'PUT part').length,
        )
        yield chunk
      }
    }
    const { bytes } = await storage.write(storage.newKey(), Readable.from(produce()), 100 * MB)
    assert.equal(bytes, 64 * MB)
    assert.ok(most < 32, `${most} MB were read ahead of what was sent`)
  })

  test('is retried after a failure of its own, and not after a refusal', async () => {
    store.faults.push({ kind: 'PUT', status: 503 }, { kind: 'PUT', status: 500 })
    await write(Buffer.from('abc'))
    assert.deepEqual(store.requests, ['PUT', 'PUT', 'PUT'])
    store.faults.push({ kind: 'PUT', status: 400 })
    await assert.rejects(write(Buffer.from('abc')), StorageUnavailable)
    assert.equal(store.requests.length, 4)
  })

  test('keeps nothing of an upload that fails, is too large or breaks off', async () => {
    const content = randomBytes(9 * MB)
    store.faults.push({ kind: 'PUT part', status: 400 })
    await assert.rejects(write(content), StorageUnavailable)
    store.faults.push({ kind: 'POST complete', status: 400 })
    await assert.rejects(write(content), StorageUnavailable)
    // Like real stores: the status is sent before the parts are combined.
    for (let at = 0; at < 3; at += 1) store.faults.push({ kind: 'POST complete', status: 200 })
    await assert.rejects(write(content), StorageUnavailable)
    await assert.rejects(write(content, storage.newKey(), 8.5 * MB), TooManyBytes)
    async function* breaking() {
      yield* cut(content)
      throw new Error('broke off')
    }
    await assert.rejects(
      storage.write(storage.newKey(), Readable.from(breaking()), 100 * MB),
      /broke off/,
    )
    assert.deepEqual([store.objects.size, store.uploads.size], [0, 0])
  })

  test('loses what a crash left of an upload when its key is removed', async () => {
    const keys = [storage.newKey(), storage.newKey()]
    for (const key of [...keys, ...keys]) {
      store.uploads.set(`${key}-${store.uploads.size}`, { key, parts: new Map() })
    }
    await storage.remove(keys[0] ?? '')
    assert.deepEqual(
      [...store.uploads.values()].map(({ key }) => key),
      [keys[1], keys[1]],
    )
  })

  test('refuses a wrong secret and a wrong region: the fake is strict', async () => {
    for (const change of [{ secretAccessKey: 'other' }, { accessKeyId: 'x' }, { region: 'us' }]) {
      const content = Readable.from([Buffer.from('abc')])
      const wrong = open(change)
      await assert.rejects(wrong.write(wrong.newKey(), content, MB), StorageUnavailable)
    }
    assert.equal(store.objects.size, 0)
  })

  test('has its bucket in the path, or where the address names it, in the host', async () => {
    const place = { bucket: 'media', region: 'r', keys: CREDENTIALS }
    const urls: string[] = []
    for (const endpoint of ['https://s3.test/store', 'https://media.s3.test']) {
      const settings = { ...place, endpoint }
      const client = await openS3Client(settings, async (input) => {
        urls.push(String(input))
        return new Response(null, { status: 204 })
      })
      const object = { Bucket: bucketOf(settings).bucket, Key: 'k' }
      await client.send(new DeleteObjectCommand(object))
    }
    assert.deepEqual(
      urls.map((url) => url.replace(/\?.*/, '')),
      ['https://s3.test/store/media/k', 'https://media.s3.test/k'],
    )
  })

  test('gets no requests for keys of another storage', async () => {
    for (const key of ['x', '../etc', 's3-short', 'A'.repeat(32)]) {
      await assert.rejects(storage.read(key))
      await assert.rejects(storage.remove(key))
    }
    assert.deepEqual(store.requests, [])
  })
})
