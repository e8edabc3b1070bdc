/** A cancel races the task's own end: the upstream's last state decides the charge. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { lockAccount, untilAskedFor } from '../../support/database/lock-account.ts'
import { until } from '../../support/until.ts'
import { CHARGE, CONTENTS_PATH, startTaskStage, type TaskStage, VIDEO_PATH } from '../stage.ts'

const POLLED_SELDOM = {
  TASK_POLL_INTERVAL_MIN_MS: '60000',
  TASK_POLL_INTERVAL_MAX_MS: '60000',
  TASK_UNKNOWN_MS: '600000',
}

describe('cancelling a task', () => {
  let stage: TaskStage
  before(async () => {
    stage = await startTaskStage()
  })
  beforeEach(() => {
    stage.vendor.advance = false
    stage.vendor.begin = 'queued'
  })
  after(() => stage.stop())

  async function begin() {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant)
    const vendorTask = stage.vendor.tasks.get(created.json.upstream_id)
    assert.ok(vendorTask)
    const cancel = () =>
      stage.gateway.fetch(`${VIDEO_PATH}/${created.json.id}`, { method: 'DELETE', key: tenant.key })
    return { tenant, created, vendorTask, cancel, id: created.json.id as string }
  }

  test('a queued task is cancelled, costs nothing, and says so in both forms', async () => {
    const { tenant, created, vendorTask, cancel, id } = await begin()
    const answer = await cancel()
    assert.equal(answer.status, 200)
    const { status, error } = (await answer.json()) as { status: string; error: { code: string } }
    assert.deepEqual([status, error.code], ['failed', 'cancelled'])
    assert.equal(vendorTask.status, 'cancelled')
    const native = await stage.gateway.get(`${CONTENTS_PATH}/${id}`, tenant.key)
    assert.equal(native.json.status, 'cancelled')
    const record = await stage.gateway.record(created, tenant.key)
    assert.deepEqual([record.status, record.charged], ['cancelled', '0'])
    assert.deepEqual(await stage.timeline(tenant, id), [
      'held',
      'submitted',
      'cancel_sent',
      'failed',
      'released',
    ])
  })

  test('a task is cancelled once the lock of its account is free', async () => {
    const { tenant, created, cancel } = await begin()
    const { sql } = stage.gateway
    const unlock = await lockAccount(sql, tenant.accountId)
    const cancelling = cancel()
    await untilAskedFor(sql, cancelling)
    await unlock()
    assert.equal((await cancelling).status, 200)
    const record = await stage.gateway.record(created, tenant.key)
    assert.deepEqual([record.status, record.charged], ['cancelled', '0'])
  })

  test('a running task is not cancelled: 409, and it is charged when it succeeds', async () => {
    const { tenant, created, vendorTask, cancel, id } = await begin()
    vendorTask.status = 'running'
    const answer = await cancel()
    assert.equal(answer.status, 409)
    const deletes = stage.vendor.requests.filter((one) => one.startsWith('DELETE'))
    assert.ok(!deletes.some((one) => one.includes(vendorTask.id)), 'nothing was erased')
    vendorTask.status = 'succeeded'
    await stage.until(tenant, id, 'succeeded')
    assert.equal((await stage.gateway.record(created, tenant.key)).charged, CHARGE)
  })

  test('a task that has succeeded unseen is delivered and charged: 409', async () => {
    const slow = await startTaskStage(POLLED_SELDOM)
    try {
      const tenant = await slow.gateway.tenant()
      const { json } = await slow.create(tenant)
      const vendorTask = slow.vendor.tasks.get(json.upstream_id)
      assert.ok(vendorTask)
      vendorTask.status = 'succeeded'
      const path = `${VIDEO_PATH}/${json.id}`
      const answer = await slow.gateway.fetch(path, { method: 'DELETE', key: tenant.key })
      assert.equal(answer.status, 409)
      const after = await slow.gateway.get(path, tenant.key)
      assert.equal(after.json.status, 'succeeded')
      assert.ok(slow.vendor.tasks.has(json.upstream_id), 'it was not erased')
    } finally {
      await slow.stop()
    }
  })

  test('two cancels at once end it once', async () => {
    const { tenant, cancel, id } = await begin()
    const statuses = await Promise.all([cancel(), cancel(), cancel()])
    assert.ok(statuses.some(({ status }) => status === 200))
    assert.ok(statuses.every(({ status }) => status === 200 || status === 409))
    await stage.until(tenant, id, 'failed').catch(() => undefined)
    assert.equal((await stage.gateway.balance(tenant.accountId)).held, 0n)
  })

  test('an unavailable upstream: 502, and the task goes on', async () => {
    const { tenant, vendorTask, cancel, id } = await begin()
    stage.vendor.fail('DELETE', 500, 'InternalServiceError')
    assert.equal((await cancel()).status, 502)
    vendorTask.status = 'succeeded'
    await stage.until(tenant, id, 'succeeded')
  })

  test('a repeated cancel leaves the cancelled task in view', async () => {
    const { tenant, cancel, id } = await begin()
    const answers = [await (await cancel()).json(), await (await cancel()).json()]
    assert.deepEqual(answers[1], answers[0])
    const { status, json } = await stage.gateway.get(`${VIDEO_PATH}/${id}`, tenant.key)
    assert.deepEqual([status, json.error.code], [200, 'cancelled'])
  })

  test('a finished task is removed from view, once, and its record stays', async () => {
    const { tenant, created, vendorTask, cancel, id } = await begin()
    vendorTask.status = 'succeeded'
    await stage.until(tenant, id, 'succeeded')
    assert.equal((await cancel()).status, 200)
    assert.equal((await cancel()).status, 404)
    assert.equal((await stage.gateway.get(`${VIDEO_PATH}/${id}`, tenant.key)).status, 404)
    assert.equal((await stage.gateway.record(created, tenant.key)).charged, CHARGE)
  })

  test('a cancel whose answer was lost is repeated: 200', async () => {
    const slow = await startTaskStage(POLLED_SELDOM)
    try {
      const tenant = await slow.gateway.tenant()
      const { json } = await slow.create(tenant)
      const path = `${VIDEO_PATH}/${json.id}`
      const cancel = () => slow.gateway.fetch(path, { method: 'DELETE', key: tenant.key })
      slow.vendor.fail('DELETE', 500, 'InternalServiceError')
      assert.equal((await cancel()).status, 502)
      const vendorTask = slow.vendor.tasks.get(json.upstream_id)
      assert.ok(vendorTask)
      vendorTask.status = 'cancelled'
      const answer = await cancel()
      assert.equal(answer.status, 200)
      const { error } = (await answer.json()) as { error: { code: string } }
      assert.equal(error.code, 'cancelled')
    } finally {
      await slow.stop()
    }
  })

  for (const [how, vendorStatus, status] of [
    ['refused', 409, 409],
    ['not answered', 500, 502],
  ] as const)
    test(`a task whose cancel was ${how} is charged, even if it is once unknown`, () =>
      assertCharged(vendorStatus, status))

  async function assertCharged(vendorStatus: number, status: number): Promise<void> {
    const { tenant, created, vendorTask, cancel, id } = await begin()
    stage.vendor.fail('DELETE', vendorStatus, 'InvalidAction.RunningTaskDeletion')
    assert.equal((await cancel()).status, status)
    stage.vendor.tasks.delete(vendorTask.id)
    const isPoll = (one: string) => one.startsWith('GET') && one.endsWith(vendorTask.id)
    const polls = () => stage.vendor.requests.filter(isPoll).length
    const before = polls()
    // The first of them may have been answered before it was gone.
    await until('polls of a task that is unknown', () => polls() > before + 1)
    stage.vendor.tasks.set(vendorTask.id, vendorTask)
    vendorTask.status = 'succeeded'
    await stage.until(tenant, id, 'succeeded')
    assert.equal((await stage.gateway.record(created, tenant.key)).charged, CHARGE)
  }

  test('a task that vanished after our cancel was finished: a cost of ours, not of the caller', async () => {
    const { tenant, vendorTask, cancel, id } = await begin()
    const original = stage.vendor.tasks.delete.bind(stage.vendor.tasks)
    const sent = cancel()
    // The vendor finished it between our poll and our DELETE, which then erased the record.
    Object.defineProperty(vendorTask, 'status', {
      get: () => {
        original(vendorTask.id)
        return 'queued'
      },
      set: () => undefined,
    })
    const answer = await sent
    assert.ok([200, 404, 409].includes(answer.status), String(answer.status))
    await stage.gateway.sql`update task set gone_since = now() - interval '1 hour' where id = ${id}`
    await stage.until(tenant, id, 'failed')
    const costs = await stage.gateway.sql`select reason from uncharged_cost where task_id = ${id}`
    assert.deepEqual(
      costs.map(({ reason }) => reason),
      ['erased'],
    )
    assert.equal((await stage.gateway.balance(tenant.accountId)).held, 0n)
  })
})
