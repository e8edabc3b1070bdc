/** GET /v1/storage, black box. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'storage-'))
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway({ DATA_DIR: dataDir, STORED_BYTES_MAX: '7GB' })
})
after(async () => {
  await gateway.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

test('200: bytes of unexpired files and copied media, and the limit', async () => {
  const { key, accountId } = await gateway.tenant()
  const read = async () => (await gateway.get('/v1/storage', key)).json
  assert.deepEqual(await read(), { stored_bytes: 0, limit_bytes: 7_000_000_000 })
  for (const text of ['four', 'fives']) {
    const body = new FormData()
    body.append('file', new Blob([text]), 'a')
    await gateway.fetch('/v1/files', { method: 'POST', key, body })
  }
  assert.equal((await read()).stored_bytes, 9)
  await gateway.sql`update file set expires_at = now() where bytes = 4`
  await gateway.sql`update account set stored_bytes_max = 5 where id = ${accountId}`
  assert.deepEqual(await read(), { stored_bytes: 5, limit_bytes: 5 })
})

test('401 without a key', async () => {
  assert.equal((await gateway.fetch('/v1/storage', {})).status, 401)
})
