/** A gateway whose object store is configured: files and media over the same endpoints. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { addToLibrary } from '../../../server/work/assets/library/library.ts'
import { MP4, type Origin, startOrigin } from '../../assets/origin.ts'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { type S3Server, startS3Server } from '../../support/s3-server.ts'
import { until } from '../../support/until.ts'

const dataDir = mkdtempSync(join(tmpdir(), 's3-'))
let store: S3Server
let gateway: TestGateway
let origin: Origin

before(async () => {
  store = await startS3Server()
  origin = await startOrigin(MP4)
  const environment = { ...store.environment, ALLOW_PRIVATE_TARGETS: 'true' }
  gateway = await startTestGateway({ ...environment, DATA_DIR: dataDir, HOUSEKEEPING_MS: '100' })
})
after(async () => {
  await gateway.stop()
  await store.stop()
  await origin.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

async function upload(key: string, content: Buffer) {
  const body = new FormData()
  body.append('file', new Blob([new Uint8Array(content)]), 'a.mp4')
  return gateway.fetch('/v1/files', { method: 'POST', key, body })
}

test('a multipart upload is only in the store, is read in ranges, and deleted', async () => {
  const { key } = await gateway.tenant()
  const content = Buffer.concat([MP4, Buffer.alloc(17_000_000, 'x')])
  const uploaded = JSON.parse(await (await upload(key, content)).text())
  assert.deepEqual([store.objects.size, store.uploads.size], [1, 0])
  assert.deepEqual(readdirSync(dataDir), ['settlements'], 'no file on the disk')
  const link = gateway.url + new URL(uploaded.url).pathname
  const whole = await fetch(link)
  assert.ok(Buffer.from(await whole.arrayBuffer()).equals(content))
  const part = await fetch(link, { headers: { range: 'bytes=30-39' } })
  assert.deepEqual([part.status, await part.text()], [206, content.subarray(30, 40).toString()])
  await gateway.fetch(`/v1/files/${uploaded.id}`, { method: 'DELETE', key })
  assert.equal(store.objects.size, 0)
})

test('a result is copied into the store', async () => {
  const { accountId, key } = await gateway.tenant()
  const task = {
    id: 'task_s',
    kind: 'video',
    account_id: accountId,
    request_id: 'req_s',
    model: 'm',
    request: {},
    result: { video_url: `${origin.url}/v.mp4` },
  }
  await gateway.sql.begin((transaction) => addToLibrary(transaction, task))
  const url = await until('a copy', async () => {
    const [one] = (await gateway.get('/v1/assets', key)).json.data
    return one.copy.state === 'stored' ? String(one.url) : undefined
  })
  const answer = await fetch(gateway.url + new URL(url).pathname)
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), MP4)
  assert.deepEqual([...store.objects.values()], [MP4])
  store.objects.clear()
  assert.equal((await fetch(gateway.url + new URL(url).pathname)).status, 404)
})

test('a result is copied once the store is back', async () => {
  const { accountId, key } = await gateway.tenant()
  for (let times = 0; times < 3; times += 1) store.faults.push({ kind: 'PUT', status: 503 })
  const task = {
    id: 'task_d',
    kind: 'video',
    account_id: accountId,
    request_id: 'req_d',
    model: 'm',
    request: {},
    result: { video_url: `${origin.url}/v.mp4` },
  }
  await gateway.sql.begin((transaction) => addToLibrary(transaction, task))
  const entry = async () => (await gateway.get('/v1/assets', key)).json.data[0]
  const readError = async () => (await entry()).copy.error
  assert.equal(await until('a failure', readError), 'storage is not available')
  await gateway.sql`update asset set due_at = now() where task_id = 'task_d'`
  const isStored = async () => (await entry()).copy.state === 'stored' || undefined
  await until('the copy', isStored)
})

test('503 for an upload while the store is unavailable, and nothing remains', async () => {
  const { key } = await gateway.tenant()
  for (let times = 0; times < 3; times += 1) store.faults.push({ kind: 'PUT', status: 500 })
  const answer = await upload(key, MP4)
  assert.equal(answer.status, 503, await answer.text())
  assert.deepEqual((await gateway.get('/v1/files', key)).json.data, [])
  assert.equal((await upload(key, MP4)).status, 200)
})
