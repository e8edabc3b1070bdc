/**
 * Ends that an upstream does not state: a task that never ends, one that it no longer knows, one
 * whose worker lost its lease, one whose channel has changed. Each ends and settles once.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Tenant } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { CHARGE, startTaskStage, type TaskStage } from '../stage.ts'

const ALL = 100_000_000_000n

describe('a task', () => {
  let stage: TaskStage
  before(async () => {
    stage = await startTaskStage()
  })
  beforeEach(() => {
    Object.assign(stage.vendor, { advance: false, begin: 'running', holdsPolls: false })
  })
  after(() => stage.stop())

  async function begin() {
    const tenant = await stage.gateway.tenant()
    const { json } = await stage.create(tenant)
    const task = stage.vendor.tasks.get(json.upstream_id)
    assert.ok(task)
    return { tenant, id: String(json.id), upstreamId: String(json.upstream_id), task }
  }

  async function expectPaidBack({ accountId }: Tenant, id: string, reason: string) {
    const { held, available } = await stage.gateway.balance(accountId)
    assert.deepEqual([held, available], [0n, ALL])
    const uncharged = await stage.gateway
      .sql`select reason from uncharged_cost where task_id = ${id}`
    assert.deepEqual([...uncharged], [{ reason }])
  }

  const pollsAt = (upstreamId: string) =>
    stage.vendor.requests.filter((line) => line === `GET ${pathOf(upstreamId)}`).length
  const pathOf = (upstreamId: string) => `/api/v3/contents/generations/tasks/${upstreamId}`

  test('that never ends is given up at its age, and what comes later is not charged', async () => {
    const { tenant, id, task } = await begin()
    await stage.gateway.sql`update task set expires_at = now() where id = ${id}`
    const { error } = await stage.until(tenant, id, 'failed')
    assert.equal(error.code, 'task_expired')
    await expectPaidBack(tenant, id, 'expired')
    task.status = 'succeeded'
    const shown = await stage.until(tenant, id, 'failed')
    assert.equal(shown.video_url, undefined)
  })

  test('that its upstream does not know for a moment goes on', async () => {
    const { tenant, id, upstreamId, task } = await begin()
    stage.vendor.tasks.delete(upstreamId)
    const goneSince = async () => {
      const [row] = await stage.gateway.sql`select gone_since from task where id = ${id}`
      return row?.gone_since ?? undefined
    }
    await until('a poll that found nothing', goneSince)
    stage.vendor.tasks.set(upstreamId, task)
    await until('a poll that found it', async () => !(await goneSince()) || undefined)
    task.status = 'succeeded'
    await stage.until(tenant, id, 'succeeded')
  })

  test('that its upstream no longer knows fails, and the cost is noted', async () => {
    const { tenant, id, upstreamId } = await begin()
    stage.vendor.tasks.delete(upstreamId)
    const { error } = await stage.until(tenant, id, 'failed')
    assert.equal(error.code, 'task_not_found')
    await expectPaidBack(tenant, id, 'erased')
    const before = pollsAt(upstreamId)
    assert.ok(before >= 2, 'one answer alone is not believed')
  })

  test('that failed, and that its upstream states a bill for, is not charged, but noted', async () => {
    const { tenant, id, task } = await begin()
    Object.assign(task, { status: 'failed', extra: { usage: { completion_tokens: 9 } } })
    await stage.until(tenant, id, 'failed')
    await expectPaidBack(tenant, id, 'billed')
  })

  test('whose channel refuses its credentials is polled until they are right again', async () => {
    const { tenant, id, task } = await begin()
    stage.vendor.fail('GET', 401, 'AuthenticationError', 3)
    task.status = 'succeeded'
    await stage.until(tenant, id, 'succeeded')
    assert.equal((await stage.gateway.balance(tenant.accountId)).held, 0n)
  })

  test('whose worker wakes with an old answer is settled once, by the holder of its lease', async () => {
    const { tenant, id, upstreamId, task } = await begin()
    task.status = 'succeeded'
    stage.vendor.holdsPolls = true
    const before = pollsAt(upstreamId)
    await until('a running poll', () => pollsAt(upstreamId) > before)
    // Another process takes it over while the answer is on its way.
    await stage.gateway.sql`
      update task set fence = fence + 1, due_at = now() + interval '2 seconds' where id = ${id}`
    stage.vendor.holdsPolls = false
    await stage.until(tenant, id, 'succeeded')
    assert.ok(pollsAt(upstreamId) >= before + 2, 'the answer that came first was not taken')
    const { sql } = stage.gateway
    const settled = await sql`select 1 from task_event where task_id = ${id} and kind = 'settled'`
    assert.equal(settled.length, 1)
    const { held, available } = await stage.gateway.balance(tenant.accountId)
    assert.deepEqual([held, available], [0n, ALL - 5_009_400_000n])
  })

  test('goes on at the address and with the key that it was submitted with', async () => {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant)
    const { id, upstream_id: upstreamId } = created.json
    const settings = { base_url: 'http://127.0.0.1:1/api/v3', api_key: 'another' }
    await stage.gateway.apply({
      channels: [{ id: 'video', upstream: 'ark', settings }],
      models: [
        {
          id: 'test-video',
          type: 'video',
          prices: [{ unit: 'output_token', per: 1_000_000, amount: '46' }],
          routes: [{ channel: 'video', upstream_model: 'doubao-seedance-2-0-260128' }],
        },
      ],
    })
    const task = stage.vendor.tasks.get(upstreamId)
    assert.ok(task)
    task.status = 'succeeded'
    await stage.until(tenant, id, 'succeeded')
    assert.equal((await stage.gateway.record(created, tenant.key)).charged, CHARGE)
    assert.equal((await stage.create(tenant)).status, 502, 'a new one goes to the new address')
  })
})
