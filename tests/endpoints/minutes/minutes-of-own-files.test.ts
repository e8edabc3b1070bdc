/** Minutes of an uploaded file: its limits and length are known before the hold. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { flac, mp4, wav } from '../../assets/recordings.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { QUICK } from '../../tasks/stage.ts'

const PATH = '/v1/audio/minutes'
/** The file is not fetched: its URL states the length to the simulated vendor. */
const SCRIPT = '?x=[[fault:media-seconds=5;queue-time=20;run-time=20]]'
/** A task that is open until the end of the tests. */
const LASTING = '?x=[[fault:media-seconds=5;run-time=600000]]'

describe('minutes of an own file', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'minutes-'))
  let gateway: TestGateway
  before(async () => {
    const environment = { ...QUICK, DATA_DIR: dataDir, ALLOW_PRIVATE_TARGETS: 'true' }
    const PUBLIC_URL = 'http://127.0.0.1:8080/gateway'
    gateway = await startTestGateway({ ...environment, PUBLIC_URL })
  })
  after(async () => {
    await gateway.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  async function upload({ key }: Tenant, content: Buffer, name: string) {
    const body = new FormData()
    body.append('file', new Blob([new Uint8Array(content)]), name)
    const answer = await gateway.fetch('/v1/files', { method: 'POST', key, body })
    return (await answer.json()) as { id: string; url: string }
  }

  const create = ({ key }: Tenant, url: string, more: object = {}) =>
    gateway.post(PATH, key, {
      model: 'vendor-minutes',
      all_activate: true,
      file_url: url + SCRIPT,
      ...more,
    })

  for (const [name, content, held] of [
    ['a.wav', wav(90), '0.09'],
    ['a.m4a', mp4(3600, true), '3.6'],
    ['noise.bin', Buffer.alloc(500, 1), '7.2'],
  ] as const) {
    test(`${name}: the hold`, async () => {
      const tenant = await gateway.tenant()
      const { url } = await upload(tenant, content, name)
      const created = await create(tenant, url)
      assert.equal(created.status, 200, created.text)
      assert.equal((await gateway.record(created, tenant.key)).held, held)
    })
  }

  test('headers may be wrong, so the balance covers two hours of each file', async () => {
    const rich = await gateway.tenant()
    const poor = await gateway.tenant({ balance: '15' })
    for (const [tenant, statuses] of [
      [rich, [200, 200, 200]],
      [poor, [200, 200, 429]],
    ] as const) {
      const { url } = await upload(tenant, wav(90), 'a.wav')
      for (const status of statuses) {
        const created = await create(tenant, url, { file_url: url + LASTING })
        assert.equal(created.status, status, created.text)
        if (status === 429) assert.match(created.json.error, /the balance does not cover/)
      }
    }
  })

  test('the charge is by the length of the file, not by the end of the last sentence', async () => {
    const tenant = await gateway.tenant()
    const { url } = await upload(tenant, wav(90), 'a.wav')
    const created = await create(tenant, url)
    assert.equal(created.status, 200, created.text)
    const done = await until('the end', async () => {
      const { json } = await gateway.get(`${PATH}/${created.json.id}`, tenant.key)
      return json.status === 'succeeded' && json
    })
    assert.equal(done.duration, 90)
    const { charged, basis, lines } = await gateway.record(created, tenant.key)
    assert.deepEqual([charged, basis, lines[0]?.quantity], ['0.09', 'params', 90])
  })

  test('the tokens of the summary are estimated by the length too', async () => {
    const tenant = await gateway.tenant()
    const { url } = await upload(tenant, wav(60), 'a.wav')
    const more = { model: 'service-minutes' }
    const short = await create(tenant, url, more)
    const long = await create(tenant, 'https://media.example/a.wav', more)
    const [less, most] = await Promise.all(
      [short, long].map((one) => gateway.record(one, tenant.key)),
    )
    assert.ok(Number(less?.held) < Number(most?.held) / 2, `${less?.held} of ${most?.held}`)
  })

  test('over two hours: 400 before anything is held', async () => {
    const tenant = await gateway.tenant()
    const { url } = await upload(tenant, flac(7300), 'a.flac')
    const answer = await create(tenant, url)
    assert.equal(answer.status, 400, answer.text)
    assert.equal(answer.json.param ?? 'file_url', 'file_url')
    assert.match(answer.json.error, /^file_url: the recording lasts 7300 seconds; the maximum is/)
    assert.deepEqual((await gateway.get('/v1/usage', tenant.key)).json.data, [])
  })

  test('exactly two hours and a little silence are accepted', async () => {
    const tenant = await gateway.tenant()
    const { url } = await upload(tenant, mp4(7201), 'a.mp4')
    const created = await create(tenant, url)
    assert.equal(created.status, 200, created.text)
    assert.equal((await gateway.record(created, tenant.key)).held, '7.2')
  })

  test('a file that was deleted: 400 before anything is held', async () => {
    const tenant = await gateway.tenant()
    const { id, url } = await upload(tenant, wav(2), 'a.wav')
    await gateway.fetch(`/v1/files/${id}`, { method: 'DELETE', key: tenant.key })
    const answer = await create(tenant, url)
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.json.error, /^file_url: the file does not exist/)
  })
})
