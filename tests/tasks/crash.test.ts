/**
 * kill -9 at every named line of a task's life. Another process takes over; the vendor's own book,
 * the ledger and what callers see must agree: one submission a call, one end, one charge or none.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createSecretBox } from '../../server/base/lib/secrets/secrets.ts'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { applyCatalog } from '../../server/money/catalog/apply/apply.ts'
import { parseCatalogFile } from '../../server/money/catalog/apply/file.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { UPSTREAMS } from '../../server/wire/upstreams/index.ts'
import { createTestAccount, type GatewayProcess, startGateway } from '../support/gateway.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { endLeases, QUICK, TEXT, VIDEO_PATH } from './stage.ts'
import { startVideoVendor, type VideoVendor } from './video-vendor.ts'

const SECRET_KEY = 'a-secret-key-of-crash-tests-that-is-long-enough'
const CREATING = ['task-held', 'task-sending', 'task-sent', 'task-accepted']
const CANCELLING = ['task-cancel', 'task-cancelled']
const WORKING = ['task-poll', 'task-finish', 'task-finished']
/** How each ends: by whether the vendor had it, and whether its cancel was sent. */
const ENDINGS: Readonly<Record<string, string>> = {
  'task-held': 'failed',
  'task-sending': 'failed',
  'task-sent': 'succeeded',
  'task-accepted': 'succeeded',
  'task-cancel': 'succeeded',
  'task-cancelled': 'failed',
  'task-poll': 'succeeded',
  'task-finish': 'succeeded',
  'task-finished': 'succeeded',
}

describe('killed at a named line', () => {
  let database: TestDatabase
  let vendor: VideoVendor
  let dataDir: string
  let key: string

  before(async () => {
    database = await createTestDatabase()
    vendor = await startVideoVendor()
    dataDir = mkdtempSync(join(tmpdir(), 'tributary-crash-'))
    await applyModels()
    const account = await createTestAccount(database.sql, '1000')
    key = (await createKey(database.sql, { accountId: account.id })).key
  })
  after(async () => {
    await vendor.stop()
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  /** One model each: the upstream's list is read by model, so lost submissions stay distinct. */
  async function applyModels(): Promise<void> {
    const settings = { base_url: vendor.url, api_key: 'vendor-key' }
    const content = {
      channels: [{ id: 'video', upstream: 'ark', settings }],
      models: Object.keys(ENDINGS).map((id) => ({
        id,
        type: 'video',
        prices: [{ unit: 'output_token', per: 1_000_000, amount: '46' }],
        routes: [{ channel: 'video', upstream_model: `doubao-seedance-2-0-${id}` }],
      })),
    }
    await applyCatalog({
      sql: database.sql,
      files: [parseCatalogFile('crash.json', JSON.stringify(content), {})],
      upstreams: Object.fromEntries(UPSTREAMS),
      secrets: createSecretBox([SECRET_KEY]),
      environment: {},
    })
  }

  function start(env: Readonly<Record<string, string>> = {}): Promise<GatewayProcess> {
    const databaseUrl = database.url
    return startGateway({ dataDir, databaseUrl, env: { ...QUICK, SECRET_KEY, ...env } })
  }

  async function send(gateway: GatewayProcess, method: string, path: string, body?: object) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    return fetch(gateway.url + path, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  }

  const create = (gateway: GatewayProcess, model: string) =>
    send(gateway, 'POST', VIDEO_PATH, { model, content: TEXT })

  async function untilAllEnded(): Promise<void> {
    const readOpen = () => database.sql`select id, model, state from task where finished_at is null`
    await until('the end of every task', async () => (await readOpen()).length === 0).catch(
      async (error: unknown) => assert.fail(`${error}: ${JSON.stringify(await readOpen())}`),
    )
  }

  test('every failpoint: another process ends the task, and the three books agree', async () => {
    for (const name of CREATING) {
      const gateway = await start({ ROLE: 'api', TRIBUTARY_FAIL: name })
      await assert.rejects(create(gateway, name), name)
      await gateway.exited
    }
    for (const name of CANCELLING) {
      const gateway = await start({ ROLE: 'api', TRIBUTARY_FAIL: name })
      const { id } = (await (await create(gateway, name)).json()) as { id: string }
      await assert.rejects(send(gateway, 'DELETE', `${VIDEO_PATH}/${id}`), name)
      await gateway.exited
    }
    vendor.advance = true
    for (const name of WORKING) {
      const healthy = await start({ ROLE: 'api' })
      assert.equal((await create(healthy, name)).status, 200)
      await healthy.stop(2_000)
      const worker = await start({ ROLE: 'worker', TRIBUTARY_FAIL: name }).catch(() => undefined)
      await worker?.exited
    }
    await endLeases(database.sql)
    const survivor = await start()
    await untilAllEnded()
    await survivor.stop(2_000)
    await compareBooks()
  })

  async function compareBooks(): Promise<void> {
    const rows = await database.sql<{ model: string; state: string; charged: bigint }[]>`
      select t.model, t.state, c.charged from task t join call c on c.hold_id = t.hold_id`
    assert.equal(rows.length, Object.keys(ENDINGS).length, 'no task is lost')
    for (const { model, state, charged } of rows) {
      assert.equal(state, ENDINGS[model], model)
      assert.equal(charged, state === 'succeeded' ? 5_009_400_000n : 0n, model)
      const name = `doubao-seedance-2-0-${model}`
      const theirs = [...vendor.tasks.values()].filter((one) => one.model === name)
      const expected = model === 'task-held' || model === 'task-sending' ? 0 : 1
      assert.equal(theirs.length, expected, `${model}: submissions`)
    }
    const result = await audit(database.sql)
    assert.deepEqual(
      result.checks.filter(({ ok }) => !ok),
      [],
    )
  }
})
