/** An object store that accepts connections and says nothing, and one that stops in the middle. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { openWatched, ServerAway } from '../../server/base/outbound/fetch-watched.ts'
import { createS3Storage } from '../../server/work/assets/storage/s3-storage.ts'
import { StorageUnavailable } from '../../server/work/assets/storage/storage.ts'
import { startServer } from '../support/servers/local-server.ts'
import { until } from '../support/until.ts'

const SILENT = { patienceMs: 50, probeMs: 1_000, retryMsMin: 20, retryMsMax: 40 }
/** An answer that waits for a busy process is not silence. */
const ANSWERS_MS = 60_000

async function startStore(t: TestContext) {
  let isSilent = true
  let slowPuts = false
  const seen: string[] = []
  const held: ServerResponse[] = []
  const server = await startServer((request, response) => {
    seen.push(request.method ?? '')
    request.resume()
    const isHeld = isSilent || (slowPuts && request.method === 'PUT')
    if (isHeld) held.push(response)
    else response.writeHead(200, { etag: '"x"' }).end('content')
  })
  t.after(async () => {
    await server.stop()
  })
  const changes: boolean[] = []
  const times = { ...SILENT }
  const storage = createS3Storage(
    {
      endpoint: server.url,
      bucket: 'b',
      region: 'r',
      keys: { accessKeyId: 'a', secretAccessKey: 's' },
    },
    { onChange: (isThere) => changes.push(isThere), times },
  )
  return {
    storage,
    changes,
    seen,
    held,
    answer: () => {
      isSilent = false
      Object.assign(times, { patienceMs: ANSWERS_MS, probeMs: ANSWERS_MS })
    },
    holdPuts: () => {
      isSilent = false
      slowPuts = true
      times.probeMs = ANSWERS_MS
    },
  }
}

const content = () => Readable.from([Buffer.from('content')])

test('it is noticed, remembered, and forgotten when the store answers', async (t) => {
  const { storage, changes, seen, answer } = await startStore(t)
  const key = storage.newKey()
  await assert.rejects(storage.write(key, content(), 100), StorageUnavailable)
  assert.deepEqual(changes, [false])
  // Nothing but probes is sent from now on.
  const body = content()
  await assert.rejects(storage.write(key, body, 100), StorageUnavailable)
  await assert.rejects(storage.read(key))
  assert.ok(!seen.includes('GET'))
  assert.equal(seen.filter((one) => one === 'PUT').length, 1)
  answer()
  await until('a store that is back', () => changes.at(-1) || undefined)
  await storage.write(key, content(), 100)
  assert.equal(String(await buffer(await storage.read(key))), 'content')
  assert.deepEqual(changes, [false, true])
})

test('all that waits is given up at once', async (t) => {
  const { storage } = await startStore(t)
  const works = Array.from({ length: 20 }, () => storage.write(storage.newKey(), content(), 100))
  for (const { status } of await Promise.allSettled(works)) assert.equal(status, 'rejected')
})

test('a slow upload to a store that answers probes goes on', async (t) => {
  const { storage, changes, seen, held, holdPuts } = await startStore(t)
  holdPuts()
  const writing = storage.write(storage.newKey(), content(), 100)
  await until('two probes', () => seen.filter((one) => one === 'HEAD').length > 1 || undefined)
  for (const response of held) response.writeHead(200, { etag: '"x"' }).end()
  await writing
  assert.deepEqual(changes, [])
})

test('an object that stops in the middle is given up', async () => {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(3)),
  })
  await assert.rejects(buffer(openWatched(body, 20)), ServerAway)
})

test('an object whose bytes came while this process stood still is read', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const begun = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>()
  const body = new ReadableStream<Uint8Array>({ pull: begun.resolve }, { highWaterMark: 0 })
  const reading = buffer(openWatched(body, 1_000))
  const source = await begun.promise
  t.mock.timers.tick(1_000)
  source.enqueue(Buffer.from('content'))
  source.close()
  assert.equal(String(await reading), 'content')
})

for (const isRead of [false, true]) {
  test(`an object destroyed ${isRead ? 'midway' : 'unread'} gives its connection back`, async () => {
    const cancelled = Promise.withResolvers<void>()
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(3)),
      cancel: () => cancelled.resolve(),
    })
    const object = openWatched(body, 600_000)
    if (isRead) await once(object, 'readable')
    object.destroy()
    await cancelled.promise
  })
}
