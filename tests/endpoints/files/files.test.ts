/** /v1/files and the public address of a file, black box, with raw requests and a real SDK. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import OpenAI from 'openai'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'

const PATH = '/v1/files'
const PNG = Buffer.from('\x89PNG\r\n\x1a\n0123456789', 'latin1')
const dataDir = mkdtempSync(join(tmpdir(), 'files-'))
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway({ DATA_DIR: dataDir, HOUSEKEEPING_MS: '100' })
})
after(async () => {
  await gateway.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

function form(content: Buffer, fields: Record<string, string> = {}, name = 'a b/帽.png') {
  const created = new FormData()
  created.append('file', new Blob([new Uint8Array(content)], { type: 'text/html' }), name)
  for (const [field, value] of Object.entries(fields)) created.append(field, value)
  return created
}

async function upload(key: string, body: FormData) {
  const answer = await gateway.fetch(PATH, { method: 'POST', key, body })
  return { status: answer.status, json: JSON.parse(await answer.text()) }
}

/** Returns the URL with the gateway's actual port, which PUBLIC_URL does not have. */
const fetchPublic = (url: string, init: RequestInit = {}) =>
  fetch(gateway.url + new URL(url).pathname, init)

/** Lists everything in storage, including parts of uploads. */
const stored = () =>
  readdirSync(join(dataDir, 'files'), { recursive: true }).filter((name) => name.length > 3)

test('200: upload, metadata, content whole and in part, public URL, deletion', async () => {
  const { key } = await gateway.tenant()
  const { status, json } = await upload(key, form(PNG, { purpose: 'vision' }))
  assert.equal(status, 200, JSON.stringify(json))
  assert.match(json.id, /^file_/)
  assert.deepEqual([json.object, json.bytes, json.purpose], ['file', PNG.length, 'vision'])
  assert.equal(json.filename, '帽.png')
  assert.equal(json.expires_at - json.created_at, 30 * 86_400)
  assert.deepEqual((await gateway.get(`${PATH}/${json.id}`, key)).json, json)
  const content = await gateway.fetch(`${PATH}/${json.id}/content`, { key })
  assert.equal(content.headers.get('content-type'), 'image/png', 'not what the caller claims')
  assert.deepEqual(Buffer.from(await content.arrayBuffer()), PNG)
  const disposition = `inline; filename="_.png"; filename*=UTF-8''%E5%B8%BD.png`
  assert.equal(content.headers.get('content-disposition'), disposition)
  const part = await fetchPublic(json.url, { headers: { range: 'bytes=8-11' } })
  assert.deepEqual([part.status, await part.text()], [206, '0123'])
  assert.equal(part.headers.get('content-range'), `bytes 8-11/${PNG.length}`)
  const beyond = await fetchPublic(json.url, { headers: { range: 'bytes=900-' } })
  assert.equal(beyond.status, 416)
  const head = await fetchPublic(json.url, { method: 'HEAD' })
  assert.equal(head.headers.get('content-length'), String(PNG.length))
  const count = stored().length
  const removed = await gateway.fetch(`${PATH}/${json.id}`, { method: 'DELETE', key })
  assert.deepEqual(await removed.json(), { id: json.id, object: 'file', deleted: true })
  assert.equal(stored().length, count - 1)
  assert.equal((await fetchPublic(json.url)).status, 404)
})

test('a file expires by the database’s clock, not the gateway’s', async (t) => {
  const { key } = await gateway.tenant()
  const late = t.mock.method(Date, 'now', () => performance.timeOrigin + performance.now() + 9e6)
  const { json } = await upload(key, form(PNG, { 'expires_after[seconds]': '3600' }))
  late.mock.restore()
  assert.equal(json.expires_at - json.created_at, 3600)
})

test('the same 404 for foreign, unknown and malformed ids and tokens', async () => {
  const owner = await gateway.tenant()
  const stranger = await gateway.tenant()
  const { json } = await upload(owner.key, form(PNG))
  const texts = new Set<string>()
  for (const id of [json.id, 'file_unknown', 'x', '%00', 'a%2F..%2Fb', '%ff', 'x'.repeat(5000)]) {
    for (const path of [`${PATH}/${id}`, `${PATH}/${id}/content`, `/files/${id}/a.png`]) {
      const answer = await gateway.get(path, stranger.key)
      assert.equal(answer.status, 404, path)
      texts.add(answer.text)
    }
    const removed = await gateway.fetch(`${PATH}/${id}`, { method: 'DELETE', key: stranger.key })
    assert.equal(removed.status, 404)
  }
  assert.equal(texts.size, 1)
  assert.equal((await gateway.get(`${PATH}/${json.id}`, owner.key)).status, 200)
})

test('list: newest first, in pages, by purpose, of this account only', async () => {
  const { key } = await gateway.tenant()
  const ids: string[] = []
  for (const purpose of ['vision', 'user_data', 'vision']) {
    ids.push((await upload(key, form(PNG, { purpose }))).json.id)
  }
  const page = (query: string) => gateway.get(`${PATH}?${query}`, key)
  const idsOf = (json: { data: { id: string }[] }) => json.data.map(({ id }) => id)
  const first = (await page('limit=2')).json
  assert.deepEqual([idsOf(first), first.has_more], [ids.toReversed().slice(0, 2), true])
  const second = (await page(`limit=2&after=${first.last_id}`)).json
  assert.deepEqual([idsOf(second), second.has_more], [ids.slice(0, 1), false])
  const oldest = (await page('order=asc&purpose=vision')).json
  assert.deepEqual(idsOf(oldest), [ids[0], ids[2]])
  assert.deepEqual(idsOf((await page('limit=10000')).json), ids.toReversed())
  for (const query of ['limit=0', 'limit=10001', 'order=x', 'after=file_unknown']) {
    assert.equal((await page(query)).status, 400, query)
  }
})

test('a page has a thousand files at most, and tells of the rest', async () => {
  const { key, accountId } = await gateway.tenant()
  await gateway.sql`
    insert into file (id, account_id, token, storage_key, filename, purpose, content_type, bytes,
      expires_at)
    select 'file_' || n, ${accountId}, 'many' || n, 'k', 'a', 'vision', 'image/png', 1,
      now() + interval '1 hour'
    from generate_series(1, 1001) as n`
  const { json } = await gateway.get(`${PATH}?limit=5000`, key)
  assert.deepEqual([json.data.length, json.has_more], [1000, true])
  const rest = (await gateway.get(`${PATH}?limit=5000&after=${json.last_id}`, key)).json
  assert.deepEqual([rest.data.length, rest.has_more], [1, false])
  await gateway.sql`delete from file where account_id = ${accountId}`
})

describe('refusals', () => {
  test('401 without a key', async () => {
    assert.equal((await gateway.fetch(PATH, { method: 'POST', body: form(PNG) })).status, 401)
  })

  test('415 for a body that is not a form', async () => {
    const { key } = await gateway.tenant()
    assert.equal((await gateway.post(PATH, key, '{}')).status, 415)
  })

  test('400 without a file, for an empty file, a bad field or a broken form', async () => {
    const { key } = await gateway.tenant()
    const before = new Set(stored())
    const empty = new FormData()
    empty.append('purpose', 'vision')
    const bodies = [
      empty,
      form(Buffer.alloc(0)),
      form(PNG, { 'expires_after[seconds]': '5' }),
      form(PNG, { purpose: '' }),
    ]
    for (const body of bodies) {
      const { status, json } = await upload(key, body)
      assert.equal(status, 400)
      assert.equal(json.error.type, 'invalid_request_error')
    }
    const broken = { 'content-type': 'multipart/form-data; boundary=x' }
    for (const text of ['--x\r\nContent-Disposition: form-data; name="file"', 'nothing', '']) {
      assert.equal((await gateway.post(PATH, key, text, broken)).status, 400, text)
    }
    const none = { 'content-type': 'multipart/form-data; boundary=' }
    assert.equal((await gateway.post(PATH, key, '', none)).status, 400)
    const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc\r\n'
    for (const more of [part, '--x\r\n\0\r\n\r\n', '--x\r\nX']) {
      assert.equal((await gateway.post(PATH, key, part + more, broken)).status, 400, more)
    }
    await until('nothing of them', () => stored().every((name) => before.has(name)))
    assert.deepEqual((await gateway.get(PATH, key)).json.data, [])
  })

  test('an upload that breaks off leaves no bytes', async () => {
    const { key } = await gateway.tenant()
    // Those of earlier tests may be on their way out.
    const before = new Set(stored())
    const { hostname, port } = new URL(gateway.url)
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
        'content-type: multipart/form-data; boundary=x\r\ncontent-length: 1000000\r\n\r\n' +
        '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nsome bytes',
    )
    const part = await until('the part of an upload', () =>
      stored().find((name) => !before.has(name)),
    )
    socket.destroy()
    await until('its removal', () => !stored().includes(part))
  })
})

test('an expired file is not found, and its bytes are deleted later', async () => {
  const { key } = await gateway.tenant()
  const before = new Set(stored())
  const { json } = await upload(key, form(PNG, { 'expires_after[seconds]': '3600' }))
  assert.equal(json.expires_at - json.created_at, 3600)
  await gateway.sql`update file set expires_at = now() where id = ${json.id}`
  assert.equal((await gateway.get(`${PATH}/${json.id}`, key)).status, 404)
  assert.equal((await fetchPublic(json.url)).status, 404)
  await until('its removal', () => stored().every((name) => before.has(name)))
})

test('the SDK uploads, lists, reads and deletes', async () => {
  const { key } = await gateway.tenant()
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1` })
  const created = await client.files.create({
    file: new File([new Uint8Array(PNG)], 'x.png'),
    purpose: 'vision',
    expires_after: { anchor: 'created_at', seconds: 7200 },
  })
  assert.equal(created.bytes, PNG.length)
  assert.equal((await client.files.waitForProcessing(created.id)).id, created.id)
  const seen: string[] = []
  for await (const one of client.files.list()) seen.push(one.id)
  assert.deepEqual(seen, [created.id])
  const content = await client.files.content(created.id)
  assert.deepEqual(Buffer.from(await content.arrayBuffer()), PNG)
  assert.equal((await client.files.delete(created.id)).deleted, true)
})
