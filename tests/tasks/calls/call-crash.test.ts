/**
 * kill -9 at every named line of a deferred call, and while the vendor works on it. Another process
 * takes over; the vendor's own book, the ledger and what callers see must agree.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { GatewayProcess } from '../../support/gateway.ts'
import { type CrashStage, startCrashStage } from '../../support/servers/crash-stage.ts'
import { until } from '../../support/until.ts'
import { endLeases, QUICK } from '../stage.ts'
import { ASYNC_PATH } from './image-stage.ts'
import { type ImageVendor, startImageVendor } from './image-vendor.ts'

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

function catalogOf(url: string): object {
  const settings = { base_url: url, api_key: 'vendor-key' }
  return {
    channels: [{ id: 'image', upstream: 'openai-compatible', settings }],
    models: [...Object.keys(ENDINGS), STOPPED].map((id) => ({
      id,
      type: 'image',
      prices: [{ unit: 'image', amount: '0.5' }],
      routes: [{ channel: 'image', upstream_model: id }],
    })),
  }
}

describe('killed at a named line of a deferred call', () => {
  let stage: CrashStage
  let vendor: ImageVendor

  before(async () => {
    vendor = await startImageVendor()
    stage = await startCrashStage(catalogOf(vendor.url), QUICK)
  })
  after(async () => {
    await vendor.stop()
    await stage.stop()
  })

  function create(gateway: GatewayProcess, model: string): Promise<Response> {
    const body = { model, prompt: 'a river' }
    return stage.send(gateway.url + ASYNC_PATH, 'POST', body, { 'idempotency-key': model })
  }

  const untilAllEnded = () =>
    until('the end of every task', async () => {
      const [row] = await stage.sql<{ open: number }[]>`
          select count(*)::int as open from task where finished_at is null`
      return row?.open === 0 || undefined
    })

  test('every window: another process ends the task, and the three books agree', async () => {
    const api = await stage.start({ ROLE: 'api', TRIBUTARY_FAIL: 'task-begun' })
    await assert.rejects(create(api, 'task-begun'))
    await api.exited
    const creator = await stage.start({ ROLE: 'api' })
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
    await endLeases(stage.sql)
    const healthy = await stage.start({ ROLE: 'worker' })
    await untilAllEnded()
    await healthy.stop(2_000)
  }

  async function killWorker(creator: GatewayProcess, name: string): Promise<void> {
    if (name === DURING) vendor.waits = true
    await (await create(creator, name)).arrayBuffer()
    const worker = await stage
      .start({ ROLE: 'worker', TRIBUTARY_FAIL: name })
      .catch(() => undefined)
    if (name === DURING) {
      await until('the vendor’s work', async () => vendor.requests.get(name)?.length)
      await worker?.kill9()
      vendor.letGo()
    }
    await worker?.exited
  }

  test('a stop that cuts a call ends its task before the process is gone', async () => {
    const gateway = await stage.start({ DRAIN_SECONDS: '0' })
    vendor.waits = true
    const created = await create(gateway, STOPPED)
    const { id } = (await created.json()) as { id: string }
    await until('the vendor’s work', async () => vendor.requests.get(STOPPED)?.length)
    gateway.signal('SIGTERM')
    assert.deepEqual(await gateway.exited, { code: 0, signal: null })
    vendor.letGo()
    const [row] = await stage.sql`
      select t.state, h.state as hold, o.reason from task t join hold h on h.id = t.hold_id
      join uncharged_cost o on o.task_id = t.id where t.id = ${id}`
    assert.deepEqual({ ...row }, { state: 'failed', hold: 'released', reason: 'unknown_submit' })
  })

  async function compareBooks(): Promise<void> {
    const rows = await stage.sql<
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
    assert.equal((await stage.sql`select 1 from task_body`).length, 0)
  }
})
