/**
 * kill -9 at every named line of a deferred call, and while the vendor works on it. Another process
 * takes over; the vendor's own book, the ledger and what callers see must agree.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createSecretBox } from '../../../server/base/lib/secrets/secrets.ts'
import { createKey } from '../../../server/money/accounts/manage-keys.ts'
import { applyCatalog } from '../../../server/money/catalog/apply/apply.ts'
import { parseCatalogFile } from '../../../server/money/catalog/apply/file.ts'
import { audit } from '../../../server/money/ledger/audit/audit.ts'
import { UPSTREAMS } from '../../../server/wire/upstreams/index.ts'
import { createTestAccount, type GatewayProcess, startGateway } from '../../support/gateway.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { endLeases, QUICK } from '../stage.ts'
import { ASYNC_PATH } from './image-stage.ts'
import { type ImageVendor, startImageVendor } from './image-vendor.ts'

const SECRET_KEY = 'a-secret-key-of-crash-tests-that-is-long-enough'

interface Expected {
  readonly state: 'succeeded' | 'failed'
  /** Calls that the vendor accepted. */
  readonly calls: number
}

const DURING = 'during'
const STOPPED = 'stopped'
const ENDINGS: Readonly<Record<string, Expected>> = {
  'task-begun': { state: 'succeeded', calls: 1 },
  'task-poll': { state: 'succeeded', calls: 1 },
  'call-held': { state: 'succeeded', calls: 1 },
  'call-sending': { state: 'failed', calls: 0 },
  [DURING]: { state: 'failed', calls: 1 },
  'call-answered': { state: 'failed', calls: 1 },
  'task-finish': { state: 'failed', calls: 1 },
  'task-finished': { state: 'succeeded', calls: 1 },
}

describe('killed at a named line of a deferred call', () => {
  let database: TestDatabase
  let vendor: ImageVendor
  let dataDir: string
  let key: string

  before(async () => {
    database = await createTestDatabase()
    vendor = await startImageVendor()
    dataDir = mkdtempSync(join(tmpdir(), 'tributary-call-crash-'))
    await applyModels()
    const account = await createTestAccount(database.sql, '1000')
    key = (await createKey(database.sql, { accountId: account.id })).key
  })
  after(async () => {
    await vendor.stop()
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  async function applyModels(): Promise<void> {
    const settings = { base_url: vendor.url, api_key: 'vendor-key' }
    const content = {
      channels: [{ id: 'image', upstream: 'openai-compatible', settings }],
      models: [...Object.keys(ENDINGS), STOPPED].map((id) => ({
        id,
        type: 'image',
        prices: [{ unit: 'image', amount: '0.5' }],
        routes: [{ channel: 'image', upstream_model: id }],
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
    return startGateway({
      dataDir,
      databaseUrl,
      env: { ...QUICK, SECRET_KEY, ...env },
    })
  }

  const create = (gateway: GatewayProcess, model: string) =>
    fetch(gateway.url + ASYNC_PATH, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': model,
      },
      body: JSON.stringify({ model, prompt: 'a river' }),
    })

  const untilAllEnded = () =>
    until('the end of every task', async () => {
      const [row] = await database.sql<{ open: number }[]>`
          select count(*)::int as open from task where finished_at is null`
      return row?.open === 0 || undefined
    })

  test('every window: another process ends the task, and the three books agree', async () => {
    const api = await start({ ROLE: 'api', TRIBUTARY_FAIL: 'task-begun' })
    await assert.rejects(create(api, 'task-begun'))
    await api.exited
    const creator = await start({ ROLE: 'api' })
    const again = await create(creator, 'task-begun')
    assert.equal(again.status, 200, 'its key names the task that nobody was told of')
    assert.ok(again.headers.get('idempotent-replayed'))
    await again.arrayBuffer()
    await recover()
    for (const name of Object.keys(ENDINGS).filter((one) => one !== 'task-begun')) {
      await killWorker(creator, name)
      // Else the next one that is to be killed would find this task instead of its own.
      await recover()
    }
    await creator.stop(2_000)
    await compareBooks()
  })

  /** A healthy worker takes over from one that was killed, and ends what is open. */
  async function recover(): Promise<void> {
    await endLeases(database.sql)
    const healthy = await start({ ROLE: 'worker' })
    await untilAllEnded()
    await healthy.stop(2_000)
  }

  async function killWorker(creator: GatewayProcess, name: string): Promise<void> {
    if (name === DURING) vendor.waits = true
    await (await create(creator, name)).arrayBuffer()
    const worker = await start({ ROLE: 'worker', TRIBUTARY_FAIL: name }).catch(() => undefined)
    if (name === DURING) {
      await until('the vendor’s work', async () => vendor.requests.get(name)?.length)
      await worker?.kill9()
      vendor.letGo()
    }
    await worker?.exited
  }

  test('a stop that cuts a call ends its task before the process is gone', async () => {
    const gateway = await start({ DRAIN_SECONDS: '0' })
    vendor.waits = true
    const created = await create(gateway, STOPPED)
    const { id } = (await created.json()) as { id: string }
    await until('the vendor’s work', async () => vendor.requests.get(STOPPED)?.length)
    gateway.signal('SIGTERM')
    assert.deepEqual(await gateway.exited, { code: 0, signal: null })
    vendor.letGo()
    const [row] = await database.sql`
      select t.state, h.state as hold, o.reason from task t join hold h on h.id = t.hold_id
      join uncharged_cost o on o.task_id = t.id where t.id = ${id}`
    assert.deepEqual({ ...row }, { state: 'failed', hold: 'released', reason: 'unknown_submit' })
  })

  async function compareBooks(): Promise<void> {
    const rows = await database.sql<
      { model: string; state: string; charged: bigint; reason: string | null }[]
    >`
      select t.model, t.state, c.charged, o.reason from task t
      join call c on c.hold_id = t.hold_id left join uncharged_cost o on o.task_id = t.id`
    assert.equal(rows.length, Object.keys(ENDINGS).length, 'no task is lost or made twice')
    for (const { model, state, charged, reason } of rows) {
      const expected = ENDINGS[model]
      assert.equal(state, expected?.state, model)
      assert.equal(vendor.requests.get(model)?.length ?? 0, expected?.calls, `${model}: calls`)
      assert.equal(charged, state === 'succeeded' ? 500_000_000n : 0n, model)
      assert.equal(reason, state === 'succeeded' ? null : 'unknown_submit', model)
    }
    assert.equal((await database.sql`select 1 from task_body`).length, 0)
    const result = await audit(database.sql)
    assert.deepEqual(
      result.checks.filter(({ ok }) => !ok),
      [],
    )
  }
})
