/** Deferred calls that do not end well: refused, lost, not kept. Never twice, never overpaid. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { PNG } from '../../assets/png.ts'
import { lockAccount, untilAskedFor } from '../../support/database/lock-account.ts'
import type { TestAnswer } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { QUICK } from '../stage.ts'
import { type ImageStage, startImageStage } from './image-stage.ts'

describe('a deferred call', () => {
  let stage: ImageStage
  before(async () => {
    stage = await startImageStage()
  })
  beforeEach(async () => {
    for (const vendor of [stage.vendor, stage.second]) vendor.faults.length = 0
    await stage.gateway.sql`drop trigger if exists change_refused on task_event`
  })
  after(() => stage.stop())

  const countCalls = (model: string) =>
    [stage.vendor, stage.second].flatMap((vendor) => vendor.requests.get(model) ?? []).length

  async function unchargedReasons({ json }: TestAnswer) {
    const rows = await stage.gateway.sql`
      select reason from uncharged_cost where task_id = ${json.id}`
    return rows.map(({ reason }) => reason)
  }

  /** Changes a task with the record of a refusal: the next attempt may come at once. */
  const changeRefused = (change: string) =>
    stage.gateway.sql.unsafe(`
      create or replace function change_refused() returns trigger language plpgsql as $$
      begin
        update task set ${change} where id = new.task_id;
        return null;
      end $$;
      create trigger change_refused after insert on task_event for each row
        when (new.kind = 'attempt_refused') execute function change_refused()`)

  /** What could not be kept is removed after its task has ended. */
  const untilCleared = () =>
    until('the removal of loose content', async () => {
      return (await stage.gateway.sql`select 1 from loose_blob`).length === 0
    })

  test('what one channel refuses, another one makes', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.faults.push(500)
    const created = await stage.create(tenant, { model: 'two-routes' })
    await stage.until(tenant, created.json.id, 'succeeded')
    const record = await stage.gateway.record(created, tenant.key)
    assert.deepEqual(
      record.attempts.map(({ channel, outcome }) => [channel, outcome]),
      [
        ['first', 'refused'],
        ['second', 'answered'],
      ],
    )
  })

  test('a request at fault is not tried again', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.faults.push(400, 400)
    const created = await stage.create(tenant, { model: 'two-routes' })
    await stage.until(tenant, created.json.id, 'failed')
    assert.deepEqual(stage.vendor.faults, [400])
  })

  for (const status of [429, 503, 500, 401]) {
    test(`${status} twice, then an image: three attempts, one charge`, async () => {
      const tenant = await stage.gateway.tenant()
      const before = countCalls('p-1')
      stage.vendor.faults.push(status, status)
      const created = await stage.create(tenant)
      await stage.until(tenant, created.json.id, 'succeeded')
      assert.equal(countCalls('p-1') - before, 1)
      const record = await stage.gateway.record(created, tenant.key)
      assert.equal(record.charged, '0.5')
      assert.deepEqual(
        record.attempts.map(({ outcome }) => outcome),
        ['refused', 'refused', 'answered'],
      )
      const events = await stage.timeline(tenant, created.json.id)
      const refusals = ['attempt_refused', 'attempt_refused']
      assert.deepEqual(events, ['held', 'processing', ...refusals, 'succeeded', 'settled'])
    })
  }

  test('never more than three attempts', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.faults.push(503, 503, 503, 503)
    const created = await stage.create(tenant)
    const done = await stage.until(tenant, created.json.id, 'failed')
    assert.equal(done.error, 'upstream provider error')
    assert.deepEqual(stage.vendor.faults, [503])
    assert.deepEqual(await unchargedReasons(created), [], 'what was refused is not billed')
  })

  for (const fault of ['lost', 'page'] as const)
    test(`an answer that is ${fault}: never sent again, paid back, the cost is noted`, async () => {
      const tenant = await stage.gateway.tenant()
      const before = countCalls('p-1')
      stage.vendor.faults.push(fault)
      const created = await stage.create(tenant)
      const done = await stage.until(tenant, created.json.id, 'failed')
      assert.match(done.error, /^the upstream’s answer was lost; nothing was charged/)
      assert.equal(countCalls('p-1') - before, 1)
      assert.deepEqual(await unchargedReasons(created), ['unknown_submit'])
      const balance = await stage.gateway.balance(tenant.accountId)
      assert.deepEqual([balance.held, balance.available], [0n, 100_000_000_000n])
      const events = await stage.timeline(tenant, created.json.id)
      assert.deepEqual(events, ['held', 'processing', 'failed', 'released'])
    })

  test('a model whose last route is gone: failed and paid back', async () => {
    const tenant = await stage.gateway.tenant()
    await changeRefused("model = 'gone'")
    stage.vendor.faults.push(503)
    const created = await stage.create(tenant, { model: 'free' })
    const done = await stage.until(tenant, created.json.id, 'failed', 'succeeded')
    assert.equal(done.error, 'no upstream serves this model any longer')
  })

  test('one that was never begun in its time: failed, and never sent', async () => {
    const tenant = await stage.gateway.tenant()
    await changeRefused('expires_at = now()')
    stage.vendor.faults.push(503)
    const before = countCalls('p-1')
    const created = await stage.create(tenant)
    const done = await stage.until(tenant, created.json.id, 'failed', 'succeeded')
    assert.equal(done.error, 'the task was not started in time')
    assert.equal(countCalls('p-1'), before)
  })

  test('images that cannot be kept are not charged', async () => {
    const tenant = await stage.gateway.tenant()
    const { sql } = stage.gateway
    await sql`
      insert into file (id, account_id, token, storage_key, filename, purpose, content_type, bytes,
        expires_at)
      values ('file_full', ${tenant.accountId}, 'full', 'full', 'f', 'p', 't', 20000000000,
        now() + interval '1 day')`
    stage.vendor.base64 = true
    const created = await stage.create(tenant, { n: 2 })
    const done = await stage.until(tenant, created.json.id, 'failed')
    stage.vendor.base64 = false
    assert.equal(done.error, 'the storage of this account is full')
    assert.equal((await stage.gateway.record(created, tenant.key)).charged, '0')
    assert.deepEqual(await unchargedReasons(created), ['not_stored'])
    await untilCleared()
  })

  test('an answer that comes while its account is locked is kept, and charged once', async () => {
    const tenant = await stage.gateway.tenant()
    const { sql } = stage.gateway
    const before = countCalls('p-1')
    stage.vendor.waits = true
    const created = await stage.create(tenant)
    await until('the call at the vendor', () => stage.vendor.waiting.length === 1)
    const unlock = await lockAccount(sql, tenant.accountId)
    stage.vendor.letGo()
    await untilAskedFor(sql)
    await unlock()
    await stage.until(tenant, created.json.id, 'succeeded', 'failed')
    const record = await stage.gateway.record(created, tenant.key)
    assert.deepEqual([record.status, record.charged], ['succeeded', '0.5'])
    assert.equal(countCalls('p-1') - before, 1)
    assert.deepEqual(await unchargedReasons(created), [])
  })

  test('images of calls at once share one quota', async () => {
    const tenant = await stage.gateway.tenant()
    const { sql } = stage.gateway
    const roomBytes = 2 * PNG.length
    await sql`update account set stored_bytes_max = ${roomBytes} where id = ${tenant.accountId}`
    Object.assign(stage.vendor, { base64: true, waits: true })
    const created = await Promise.all(Array.from({ length: 6 }, () => stage.create(tenant)))
    for (const { status, text } of created) assert.equal(status, 200, text)
    const isCalled = () => stage.vendor.waiting.length === created.length || undefined
    await until('all calls at the vendor', isCalled)
    stage.vendor.letGo()
    const ended = created.map(({ json }) => stage.until(tenant, json.id, 'succeeded', 'failed'))
    const states = (await Promise.all(ended)).map(({ status }) => status).sort()
    stage.vendor.base64 = false
    assert.deepEqual(states, [...Array(4).fill('failed'), 'succeeded', 'succeeded'])
    const { json } = await stage.gateway.get('/v1/storage', tenant.key)
    assert.equal(json.stored_bytes, roomBytes)
    await untilCleared()
  })
})

test('a deferred call stays with its worker, and none is made for an earlier state', async () => {
  const {
    gateway,
    vendor,
    create,
    until: untilTask,
    stop,
  } = await startImageStage({
    ...QUICK,
    TASK_LEASE_MS: '7000',
  })
  try {
    const tenant = await gateway.tenant()
    vendor.waits = true
    const created = await create(tenant)
    await untilTask(tenant, created.json.id, 'processing')
    await until('a lease that was renewed beyond its first end', async () => {
      const [row] = await gateway.sql<{ renewed: boolean }[]>`
        select now() > updated_at + interval '8 seconds' and due_at > now() as renewed
        from task where id = ${created.json.id}`
      return row?.renewed
    })
    vendor.letGo()
    await untilTask(tenant, created.json.id, 'succeeded')
    const [row] = await gateway.sql`select fence from task where id = ${created.json.id}`
    assert.equal(row?.fence, 1n)
    assert.equal(vendor.requests.get('p-1')?.length, 1)
    // As after a restore: the vendor may have made what is due in the restored state.
    await gateway.sql`update owner set renewals = 0`
    await create(tenant)
    await until('that it is noticed', async () => {
      return (await fetch(`${gateway.url}/readyz`)).status === 503
    })
    assert.equal(vendor.requests.get('p-1')?.length, 1)
  } finally {
    await stop()
  }
})
