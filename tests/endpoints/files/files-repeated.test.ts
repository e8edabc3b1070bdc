/** Repeated uploads: with one Idempotency-Key, and up to the account's limit. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

const PATH = '/v1/files'
const dataDir = mkdtempSync(join(tmpdir(), 'repeated-'))
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway({ DATA_DIR: dataDir })
})
after(async () => {
  await gateway.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const stored = () =>
  readdirSync(join(dataDir, 'files'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.length > 3,
  ).length

async function upload(key: string, name: string | undefined, content = 'abc', filename = 'a.txt') {
  const body = new FormData()
  body.append('file', new Blob([content]), filename)
  const headers: Record<string, string> = name === undefined ? {} : { 'idempotency-key': name }
  const answer = await gateway.fetch(PATH, { method: 'POST', key, body, headers })
  return { status: answer.status, headers: answer.headers, json: JSON.parse(await answer.text()) }
}

describe('an upload under an Idempotency-Key', () => {
  test('creates one file, however often it is sent', async () => {
    const { key } = await gateway.tenant()
    const first = await upload(key, 'one')
    const count = stored()
    const second = await upload(key, 'one')
    assert.deepEqual(second.json, first.json)
    const requestId = first.headers.get('x-request-id')
    assert.equal(second.headers.get('idempotent-replayed'), requestId)
    assert.equal(first.headers.get('idempotent-replayed'), null)
    assert.equal(stored(), count)
    assert.notEqual((await upload(key, undefined)).json.id, first.json.id)
    const other = await gateway.tenant()
    assert.notEqual((await upload(other.key, 'one')).json.id, first.json.id)
  })

  test('creates one file when it is sent concurrently', async () => {
    const { key } = await gateway.tenant()
    const count = stored()
    const answers = await Promise.all(Array.from({ length: 8 }, () => upload(key, 'race')))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    assert.equal(new Set(answers.map(({ json }) => json.id)).size, 1)
    assert.equal(answers.filter(({ headers }) => headers.has('idempotent-replayed')).length, 7)
    assert.equal(stored(), count + 1)
    assert.equal((await gateway.sql`select 1 from loose_blob`).length, 0)
  })

  test('422 for another content or name; free again after a day or a deletion', async () => {
    const { key } = await gateway.tenant()
    const { json } = await upload(key, 'k')
    for (const again of [await upload(key, 'k', 'abd'), await upload(key, 'k', 'abc', 'b.txt')]) {
      assert.equal(again.status, 422)
      assert.match(again.json.error.message, /Idempotency-Key/)
    }
    await gateway.sql`
      update file set created_at = created_at - interval '25 hours' where id = ${json.id}`
    const later = await upload(key, 'k', 'other')
    assert.deepEqual([later.status, later.json.bytes], [200, 5])
    await gateway.fetch(`${PATH}/${later.json.id}`, { method: 'DELETE', key })
    assert.equal((await upload(key, 'k', 'third')).status, 200)
  })

  test('400 for an invalid key', async () => {
    const { key } = await gateway.tenant()
    assert.equal((await upload(key, 'x'.repeat(256))).status, 400)
  })
})

test('413 at once for a declared size over the limit', async () => {
  const { key } = await gateway.tenant()
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
      'content-type: multipart/form-data; boundary=x\r\ncontent-length: 1100000000\r\n\r\n' +
      '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nsome',
  )
  const [data] = await once(socket, 'data')
  assert.match(String(data), /^HTTP\/1\.1 413 [\s\S]*larger than 1001000000 bytes/)
  socket.destroy()
})

test('413 for a full account, also for concurrent uploads; a replay still works', async () => {
  const tenant = await gateway.tenant()
  const { key, accountId } = tenant
  const { json } = await upload(key, 'kept')
  // This file nearly fills the account.
  await gateway.sql`update file set bytes = 20000000000 - 10 where id = ${json.id}`
  const answers = await Promise.all(Array.from({ length: 6 }, () => upload(key, undefined, 'four')))
  const statuses = answers.map(({ status }) => status).sort()
  assert.deepEqual(statuses, [200, 200, 413, 413, 413, 413])
  const refused = answers.find(({ status }) => status === 413)
  assert.match(refused?.json.error.message, /delete/)
  assert.equal((await upload(key, 'kept')).json.id, json.id)
  const [sum] = await gateway.sql<{ bytes: bigint }[]>`
    select sum(bytes)::bigint as bytes from file where account_id = ${accountId}`
  assert.equal(sum?.bytes, 20_000_000_000n - 2n)
  await gateway.sql`update account set stored_bytes_max = 30000000000 where id = ${accountId}`
  assert.equal((await upload(key, undefined)).status, 200, 'an account may have its own limit')
  await gateway.sql`update account set stored_bytes_max = 3 where id = ${accountId}`
  assert.equal((await upload(key, undefined)).status, 413)
  await gateway.sql`update account set stored_bytes_max = null where id = ${accountId}`
  await gateway.fetch(`${PATH}/${json.id}`, { method: 'DELETE', key })
  assert.equal((await upload(key, undefined)).status, 200)
})
