/** /media/{token}/{filename}: requests of browsers and tools for a video. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { addToLibrary } from '../../../server/work/assets/library/library.ts'
import { MP4, type Origin, startOrigin } from '../../assets/origin.ts'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'media-'))
let gateway: TestGateway
let origin: Origin
let link: string

before(async () => {
  origin = await startOrigin(MP4)
  gateway = await startTestGateway({ DATA_DIR: dataDir, ALLOW_PRIVATE_TARGETS: 'true' })
  link = await storeVideo()
})
after(async () => {
  await gateway.stop()
  await origin.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

async function storeVideo(): Promise<string> {
  const { accountId, key } = await gateway.tenant()
  const task = {
    id: 'task_m',
    kind: 'video',
    account_id: accountId,
    request_id: 'req_m',
    model: 'm',
    request: {},
    result: { video_url: `${origin.url}/v.mp4` },
  }
  await gateway.sql.begin((transaction) => addToLibrary(transaction, task))
  const url = await until('a copy', async () => {
    const [one] = (await gateway.get('/v1/assets', key)).json.data
    return one.copy.state === 'stored' ? String(one.url) : undefined
  })
  return gateway.url + new URL(url).pathname
}

const ask = (headers: Record<string, string> = {}, method = 'GET') =>
  fetch(link, { method, headers })
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer())

test('200: all bytes, with the security headers', async () => {
  const answer = await ask()
  assert.equal(answer.status, 200)
  assert.deepEqual(await bytesOf(answer), MP4)
  const { headers } = answer
  assert.equal(headers.get('content-type'), 'video/mp4')
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  const disposition = `inline; filename="video.mp4"; filename*=UTF-8''video.mp4`
  assert.equal(headers.get('content-disposition'), disposition)
  assert.match(headers.get('content-security-policy') ?? '', /sandbox/)
  assert.equal(headers.get('accept-ranges'), 'bytes')
})

const SLICES: readonly (readonly [range: string, start: number, end: number])[] = [
  ['bytes=0-0', 0, 0],
  ['bytes=100-', 100, MP4.length - 1],
  ['bytes=-7', MP4.length - 7, MP4.length - 1],
  ['bytes=5-99999999', 5, MP4.length - 1],
  ['bytes=70000-140000', 70_000, 140_000],
]

for (const [range, start, end] of SLICES) {
  test(`206: ${range}`, async () => {
    const answer = await ask({ range })
    assert.equal(answer.status, 206)
    assert.equal(answer.headers.get('content-range'), `bytes ${start}-${end}/${MP4.length}`)
    assert.deepEqual(await bytesOf(answer), MP4.subarray(start, end + 1))
  })
}

test('416 beyond the end; an invalid range is ignored', async () => {
  const beyond = await ask({ range: `bytes=${MP4.length}-` })
  assert.equal(beyond.status, 416)
  assert.equal(beyond.headers.get('content-range'), `bytes */${MP4.length}`)
  for (const range of ['bytes=a-b', 'bytes=1-2,4-5', 'lines=1-2']) {
    assert.equal((await bytesOf(await ask({ range }))).length, MP4.length, range)
  }
})

test('If-Range resumes the same bytes only; If-None-Match is answered with 304', async () => {
  const etag = (await ask({}, 'HEAD')).headers.get('etag') ?? ''
  assert.match(etag, /^"[\w-]+"$/)
  const range = 'bytes=10-19'
  assert.equal((await ask({ range, 'if-range': etag })).status, 206)
  assert.equal((await bytesOf(await ask({ range, 'if-range': '"other"' }))).length, MP4.length)
  const known = await ask({ 'if-none-match': `"x", W/${etag}` })
  assert.deepEqual([known.status, (await bytesOf(known)).length], [304, 0])
})

test('HEAD has the headers of GET', async () => {
  const answer = await ask({}, 'HEAD')
  assert.deepEqual([answer.status, (await bytesOf(answer)).length], [200, 0])
  assert.equal(answer.headers.get('content-length'), String(MP4.length))
  const part = await ask({ range: 'bytes=0-9' }, 'HEAD')
  assert.deepEqual([part.status, part.headers.get('content-length')], [206, '10'])
})

test('404 for unknown tokens', async () => {
  for (const token of ['x', '0'.repeat(40), '%00', "'", '..%2F..%2Fetc', '%ff', 'x'.repeat(5000)]) {
    assert.equal((await fetch(`${gateway.url}/media/${token}/video.mp4`)).status, 404, token)
  }
})

test('404 without a partial answer if the bytes are missing', async () => {
  const token = new URL(link).pathname.split('/')[2] ?? ''
  const [row] = await gateway.sql<{ storage_key: string }[]>`
    update asset set storage_key = ${'A'.repeat(32)} where token = ${token}
    returning storage_key`
  assert.ok(row)
  assert.equal((await ask()).status, 404)
})
