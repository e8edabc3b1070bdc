/** A gateway that dies between the last byte of a copy and its commit. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { addToLibrary } from '../../server/work/assets/library/library.ts'
import { startGateway } from '../support/gateway.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { MP4, startOrigin } from './origin.ts'

test('the copy is repeated, and the abandoned content is removed when it is due', async (t) => {
  const database = await createTestDatabase()
  const { sql } = database
  const origin = await startOrigin(MP4)
  const dataDir = mkdtempSync(join(tmpdir(), 'crash-'))
  const env = { ALLOW_PRIVATE_TARGETS: 'true', HOUSEKEEPING_MS: '100' }
  const place = { dataDir, databaseUrl: database.url, env }
  t.after(async () => {
    await origin.stop()
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const stored = () =>
    readdirSync(join(dataDir, 'files'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.length > 3 && name !== 'storage-id',
    )

  const dying = await startGateway({ ...place, env: { ...env, TRIBUTARY_FAIL: 'copy-written' } })
  const task = {
    id: 'task_c',
    kind: 'video',
    account_id: 'acct_c',
    request_id: 'req_c',
    model: 'm',
    request: {},
    result: { video_url: `${origin.url}/v.mp4` },
  }
  await sql.begin((transaction) => addToLibrary(transaction, task))
  await dying.exited
  assert.equal(stored().length, 1, 'bytes without a row')
  const [left] = await sql<{ storage_key: string }[]>`select storage_key from loose_blob`
  assert.equal(stored()[0]?.endsWith(left?.storage_key ?? '?'), true, 'but known by name')

  // The dead gateway's lease expires.
  await sql`update asset set due_at = now()`
  const gateway = await startGateway(place)
  await until(
    'the copy',
    async () => (await sql`select 1 from asset where state = 'stored'`).length === 1 || undefined,
  )
  assert.equal(stored().length, 2)
  await sql`update loose_blob set due_at = now()`
  await until('the removal', async () => stored().length === 1 || undefined)
  const [row] = await sql<{ storage_key: string; fence: bigint }[]>`
    select storage_key, fence from asset`
  assert.equal(row?.fence, 2n)
  assert.equal(stored()[0]?.endsWith(row?.storage_key ?? '?'), true)
  await gateway.stop(5_000)
})
