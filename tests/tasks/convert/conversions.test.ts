/** Minutes of recordings that the vendor does not take as they are, black box. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { WITHOUT_FFMPEG } from '../../support/ffmpeg.ts'
import { findFreePort } from '../../support/free-port.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { startReceiver } from '../../webhooks/support.ts'
import { QUICK } from '../stage.ts'
import {
  type FileServer,
  makeSilentVideo,
  makeSound,
  makeVideo,
  minutesCatalog,
  type Recogniser,
  serveFiles,
  startRecogniser,
} from './support.ts'

const PATH = '/v1/audio/minutes'
const MODEL = 'converted-minutes'

/** A gateway whose public address leads to itself, with that vendor. */
async function startConverting(environment: Readonly<Record<string, string>> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'conversions-'))
  const port = String(await findFreePort())
  const recogniser = await startRecogniser()
  const gateway = await startTestGateway({
    ...QUICK,
    DATA_DIR: dataDir,
    ALLOW_PRIVATE_TARGETS: 'true',
    PORT: port,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    FFMPEG: 'ffmpeg',
    ...environment,
  })
  await gateway.apply(minutesCatalog(recogniser.url))
  const stop = async () => {
    await gateway.stop()
    recogniser.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  return { gateway, recogniser, stop }
}

const NEEDS_FFMPEG = { skip: WITHOUT_FFMPEG }

describe('recordings are converted', NEEDS_FFMPEG, () => {
  let gateway: TestGateway
  let recogniser: Recogniser
  let files: FileServer
  let stop: () => Promise<void>
  before(async () => {
    files = await serveFiles()
    ;({ gateway, recogniser, stop } = await startConverting())
  })
  after(async () => {
    await stop()
    files.stop()
  })

  const create = ({ key }: Tenant, file_url: string, more: object = {}) =>
    gateway.post(PATH, key, { model: MODEL, file_url, ...more })
  const ended = ({ key }: Tenant, id: string) =>
    until(`the end of ${id}`, async () => {
      const { json } = await gateway.get(`${PATH}/${id}`, key)
      return json.status === 'processing' ? undefined : json
    })

  async function refused(url: string, message: RegExp): Promise<void> {
    const tenant = await gateway.tenant()
    const submitted = recogniser.sounds.length
    const created = await create(tenant, url)
    assert.equal(created.status, 200, created.text)
    const done = await ended(tenant, created.json.id)
    assert.equal(done.status, 'failed')
    assert.match(done.error.message, message)
    const record = await gateway.record(created, tenant.key)
    assert.deepEqual([record.charged, record.status], ['0', 'failed'])
    assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
    assert.equal(recogniser.sounds.length, submitted)
  }

  for (const [name, make] of [
    ['a.m4a', makeSound],
    ['a.flac', makeSound],
    ['a.aac', makeSound],
    ['a.mp4', makeVideo],
    ['a.mkv', makeVideo],
    ['a.mov', makeVideo],
    ['a.avi', makeVideo],
  ] as const) {
    test(`${name}: its sound is submitted as mp3, and its seconds are charged`, async () => {
      const tenant = await gateway.tenant()
      const created = await create(tenant, files.put(`/${name}`, make(name, 3)))
      assert.equal(created.status, 200, created.text)
      assert.deepEqual(Object.keys(created.json).sort(), [
        'created_at',
        'id',
        'model',
        'request_id',
        'status',
      ])
      const done = await ended(tenant, created.json.id)
      assert.equal(done.status, 'succeeded', JSON.stringify(done))
      const sound = recogniser.sounds.at(-1)
      assert.equal(sound?.format, 'mp3')
      assert.match(sound.url, /recording\.mp3$/)
      const { lines, charged, held } = await gateway.record(created, tenant.key)
      const [{ quantity } = { quantity: 0 }] = lines
      assert.equal(quantity, Math.ceil(sound.content.length / 8000))
      assert.ok(quantity >= 3 && quantity <= 4, `${quantity} seconds`)
      assert.equal(Number(charged), quantity / 100)
      assert.equal(held, '72')
      assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
      // Neither the sound nor the address of the recording outlives the task.
      assert.equal((await fetch(sound.url)).status, 404)
      const { sql } = gateway
      const [left] = await sql`
        select (select count(*) from task_body)::int as bodies,
          (select count(*) from task_conversion)::int as conversions`
      assert.deepEqual(left, { bodies: 0, conversions: 0 })
    })
  }

  test('the type of the server counts, and an uploaded file is read from storage', async () => {
    const tenant = await gateway.tenant()
    const sound = makeSound('a.m4a', 2)
    const created = await create(tenant, files.put('/download', sound, { type: 'audio/mp4' }))
    assert.equal((await ended(tenant, created.json.id)).status, 'succeeded')
    const form = new FormData()
    form.append('file', new Blob([new Uint8Array(sound)]), 'a.m4a')
    const { key } = tenant
    const upload = await gateway.fetch('/v1/files', { method: 'POST', key, body: form })
    const { url } = (await upload.json()) as { url: string }
    const own = await create(tenant, url)
    assert.equal(own.status, 200, own.text)
    assert.equal((await ended(tenant, own.json.id)).status, 'succeeded')
    // The header states two seconds, and the hold covers them.
    assert.equal((await gateway.record(own, key)).held, '0.02')
  })

  test('a repeated request gets the same task, and the webhook comes', async (t) => {
    const receiver = await startReceiver(t)
    const tenant = await gateway.tenant()
    const body = {
      model: MODEL,
      file_url: files.put('/again.m4a', makeSound('a.m4a', 1)),
      callback_url: receiver.url,
    }
    const headers = { 'idempotency-key': 'once' }
    const [one, two] = [
      await gateway.post(PATH, tenant.key, body, headers),
      await gateway.post(PATH, tenant.key, body, headers),
    ]
    assert.equal(one.json.id, two.json.id)
    await ended(tenant, one.json.id)
    const delivered = await until('the webhook', () => receiver.received[0])
    assert.match(String(delivered.body), /"status":"succeeded"/)
  })

  test('a video without sound, and bytes that are no recording', async () => {
    await refused(files.put('/silent.mp4', makeSilentVideo('a.mp4')), /^the recording has no sound/)
    await refused(files.put('/noise.mp4', Buffer.alloc(5_000, 7)), /a format that is not known/)
    await refused(files.put('/empty.m4a', Buffer.alloc(1)), /a format that is not known/)
  })

  test('playlists are refused, and nothing that they name is opened', async () => {
    const canary = files.put('/canary.mp3', makeSound('a.mp3', 1))
    for (const [name, text] of [
      ['hls', `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${canary}\n#EXT-X-ENDLIST\n`],
      ['hls-file', '#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n'],
      ['concat', `ffconcat version 1.0\nfile '${canary}'\n`],
      ['dash', `<?xml version="1.0"?><MPD><BaseURL>${canary}</BaseURL></MPD>`],
      ['sdp', 'v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=audio 5004 RTP/AVP 0\n'],
      ['subtitles', '1\n00:00:00,000 --> 00:00:01,000\nhello\n'],
    ] as const) {
      await refused(files.put(`/${name}.mp4`, Buffer.from(text)), /a format that is not known/)
    }
    assert.ok(!files.seen.includes('/canary.mp3'))
  })

  test('a server that has no such file', async () => {
    await refused(`${files.url}/nowhere.m4a`, /could not be downloaded: its server answered 404/)
  })

  test('a vendor that refuses the sound: failed, released, and unpublished', async () => {
    const { gateway: other, recogniser: refusing, stop: end } = await startConverting()
    try {
      refusing.refuse(45000001)
      const tenant = await other.tenant()
      const url = files.put('/refused.m4a', makeSound('a.m4a', 1))
      const created = await other.post(PATH, tenant.key, { model: MODEL, file_url: url })
      assert.equal(created.status, 200, created.text)
      const done = await until('the end', async () => {
        const { json } = await other.get(`${PATH}/${created.json.id}`, tenant.key)
        return json.status === 'processing' ? undefined : json
      })
      assert.equal(done.status, 'failed')
      assert.equal((await other.balance(tenant.accountId)).held, 0n)
      assert.equal((await other.sql`select 1 from file where published`).length, 0)
    } finally {
      await end()
    }
  })

  test('a disk without room: nothing is submitted, and the task waits with its hold', async () => {
    const {
      gateway: full,
      recogniser: waiting,
      stop: end,
    } = await startConverting({
      SPOOL_BYTES_MAX: '1KB',
    })
    try {
      const tenant = await full.tenant()
      const url = files.put('/large.flac', makeSound('a.flac', 3))
      const created = await full.post(PATH, tenant.key, { model: MODEL, file_url: url })
      await until('another attempt', async () => {
        const [row] = await full.sql<{ attempts: number }[]>`select attempts from task_conversion`
        return row && row.attempts > 1 ? true : undefined
      })
      const { json } = await full.get(`${PATH}/${created.json.id}`, tenant.key)
      assert.equal(json.status, 'processing')
      assert.equal(waiting.sounds.length, 0)
      assert.ok((await full.balance(tenant.accountId)).held > 0n)
    } finally {
      await end()
    }
  })

  test('GET /v1/models names the formats', async () => {
    const { key } = await gateway.tenant()
    const { json } = await gateway.get(`/v1/models/${MODEL}`, key)
    assert.deepEqual(json.recordings.taken, ['wav', 'mp3', 'ogg', 'pcm'])
    assert.ok(json.recordings.converted.includes('m4a'))
    assert.equal((await gateway.get('/v1/models/vendor-minutes', key)).json.recordings, undefined)
  })
})

describe('without ffmpeg', () => {
  test('400 before the hold says so, and the model names no converted format', async () => {
    const { gateway, stop } = await startConverting({ FFMPEG: 'off' })
    try {
      const { key } = await gateway.tenant()
      const body = { model: MODEL, file_url: 'https://media.example/a.m4a' }
      const answer = await gateway.post(PATH, key, body)
      assert.equal(answer.status, 400)
      assert.match(answer.json.error, /not m4a, which this gateway cannot convert/)
      assert.deepEqual((await gateway.get('/v1/usage', key)).json.data, [])
      const { json } = await gateway.get(`/v1/models/${MODEL}`, key)
      assert.deepEqual(json.recordings.converted, [])
    } finally {
      await stop()
    }
  })
})
