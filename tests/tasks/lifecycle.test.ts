/** A task from its creation to its end: state, money, record, timeline, at every kind of end. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { formatAmount, parseAmount } from '../../server/base/lib/money.ts'
import { until } from '../support/until.ts'
import { BODY, CHARGE, startTaskStage, type TaskStage, VIDEO_PATH } from './stage.ts'

describe('the life of a task', () => {
  let stage: TaskStage
  before(async () => {
    stage = await startTaskStage()
  })
  beforeEach(() => {
    stage.vendor.advance = false
    stage.vendor.begin = 'queued'
  })
  after(() => stage.stop())

  test('succeeds: charged once, at the usage the vendor states', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.advance = true
    const created = await stage.create(tenant)
    assert.equal(created.status, 200, created.text)
    assert.match(created.json.id, /^task_/)
    assert.match(created.json.upstream_id, /^cgt-/)
    assert.equal(created.json.status, 'queued')
    assert.equal(created.json.model, 'test-video')
    assert.ok(!Number.isNaN(Date.parse(created.json.created_at)))
    const done = await stage.until(tenant, created.json.id, 'succeeded')
    assert.equal(done.video_url, `https://media.example/${created.json.upstream_id}.mp4`)
    assert.equal(done.usage.completion_tokens, 108_900)
    const record = await stage.gateway.record(created, tenant.key)
    assert.equal(record.charged, CHARGE)
    assert.equal(record.basis, 'usage')
    assert.equal(record.status, 'succeeded')
    assert.deepEqual(
      record.lines.map(({ unit, quantity }) => [unit, quantity]),
      [['output_token', 108_900]],
    )
    const balance = await stage.gateway.balance(tenant.accountId)
    assert.equal(balance.held, 0n)
    assert.equal(balance.available, 100_000_000_000n - 5_009_400_000n)
    assert.deepEqual(await stage.timeline(tenant, created.json.id), [
      'held',
      'submitted',
      'processing',
      'succeeded',
      'settled',
    ])
  })

  test('fails: nothing is charged and the reason is shown', async () => {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant)
    const held = await stage.gateway.balance(tenant.accountId)
    assert.ok(held.held > 0n, 'money is frozen while it runs')
    const task = stage.vendor.tasks.get(created.json.upstream_id)
    assert.ok(task)
    task.error = { code: 'OutputVideoSensitiveContentDetected', message: 'refused' }
    task.status = 'failed'
    const done = await stage.until(tenant, created.json.id, 'failed')
    assert.deepEqual(done.error, task.error)
    const record = await stage.gateway.record(created, tenant.key)
    assert.equal(record.charged, '0')
    assert.equal(record.status, 'failed')
    assert.equal((await stage.gateway.balance(tenant.accountId)).available, 100_000_000_000n)
  })

  for (const status of ['expired', 'cancelled', 'canceled']) {
    test(`${status} upstream counts as failed and costs nothing`, async () => {
      const tenant = await stage.gateway.tenant()
      const created = await stage.create(tenant)
      const task = stage.vendor.tasks.get(created.json.upstream_id)
      assert.ok(task)
      task.status = status
      await stage.until(tenant, created.json.id, 'failed')
      assert.equal((await stage.gateway.balance(tenant.accountId)).held, 0n)
    })
  }

  test('a poll that fails is retried: 500, 429, 401 and an unknown state', async () => {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant)
    stage.vendor.fail('GET', 500, 'InternalServiceError')
    stage.vendor.fail('GET', 429, 'RateLimitExceeded', 1, '0')
    stage.vendor.fail('GET', 401, 'AuthenticationError')
    const task = stage.vendor.tasks.get(created.json.upstream_id)
    assert.ok(task)
    task.status = 'dreaming'
    const polls = () => stage.vendor.requests.filter((one) => one.endsWith(task.id)).length
    await until('five polls', () => polls() >= 5)
    task.status = 'succeeded'
    await stage.until(tenant, created.json.id, 'succeeded')
    assert.equal((await stage.gateway.record(created, tenant.key)).charged, CHARGE)
  })

  test('no usage: charged by the parameters, and the record says so', async () => {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant)
    const task = stage.vendor.tasks.get(created.json.upstream_id)
    assert.ok(task)
    task.usage = undefined
    task.status = 'succeeded'
    await stage.until(tenant, created.json.id, 'succeeded')
    const record = await stage.gateway.record(created, tenant.key)
    assert.equal(record.basis, 'params')
    assert.equal(record.charged, CHARGE)
  })

  for (const tokens of [-5, 1e15, 'many', 1.5]) {
    test(`usage of ${tokens}: what is no quantity is not stated, too much is cut`, async () => {
      const tenant = await stage.gateway.tenant()
      const created = await stage.create(tenant)
      const task = stage.vendor.tasks.get(created.json.upstream_id)
      assert.ok(task)
      task.usage = { completion_tokens: tokens }
      task.status = 'succeeded'
      await stage.until(tenant, created.json.id, 'succeeded')
      const record = await stage.gateway.record(created, tenant.key)
      const isCut = tokens === 1e15
      assert.deepEqual([record.basis, record.review], [isCut ? 'usage' : 'params', isCut])
      const [charged, held = 0n] = [record.charged, record.held].map(parseAmount)
      assert.equal(charged, isCut ? held * 4n : parseAmount(CHARGE))
      const total = record.lines.reduce((sum, { amount }) => sum + (parseAmount(amount) ?? 0n), 0n)
      assert.equal(formatAmount(total), record.charged, 'its lines add up')
    })
  }

  test('the price of the hold counts, also when the catalog changes meanwhile', async () => {
    const other = await startTaskStage()
    try {
      const tenant = await other.gateway.tenant()
      const created = await other.create(tenant)
      const dearer = {
        channels: [
          {
            id: 'video',
            upstream: 'ark',
            settings: { base_url: other.vendor.url, api_key: 'rotated' },
          },
        ],
        models: [
          {
            id: 'test-video',
            type: 'video',
            prices: [{ unit: 'output_token', per: 1, amount: '99' }],
            routes: [{ channel: 'video', upstream_model: 'doubao-seedance-2-0-260128' }],
          },
        ],
      }
      await other.gateway.apply(dearer)
      const task = other.vendor.tasks.get(created.json.upstream_id)
      assert.ok(task)
      task.status = 'succeeded'
      await other.until(tenant, created.json.id, 'succeeded')
      assert.equal((await other.gateway.record(created, tenant.key)).charged, CHARGE)
    } finally {
      await other.stop()
    }
  })

  test('polling customers cause no upstream calls', async () => {
    const tenant = await stage.gateway.tenant()
    // The gateway's own poll is one at most while its answer is held back.
    stage.vendor.holdsPolls = true
    const created = await stage.create(tenant)
    const path = `${VIDEO_PATH}/${created.json.id}`
    const seen = () => stage.vendor.requests.filter((one) => one.includes(created.json.upstream_id))
    await Promise.all(Array.from({ length: 100 }, () => stage.gateway.get(path, tenant.key)))
    assert.ok(seen().length <= 1, `${seen().length} polls`)
    Object.assign(stage.vendor, { advance: true, holdsPolls: false })
    await stage.until(tenant, created.json.id, 'succeeded')
  })

  test('a repeated Idempotency-Key is the same task', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.advance = true
    const header = { 'idempotency-key': 'again' }
    const first = await stage.create(tenant, BODY, VIDEO_PATH, header)
    const second = await stage.create(tenant, BODY, VIDEO_PATH, header)
    assert.equal(second.text, first.text)
    assert.equal(second.headers.get('idempotent-replayed'), first.headers.get('x-request-id'))
    const other = await stage.create(tenant, { ...BODY, duration: 6 }, VIDEO_PATH, header)
    assert.equal(other.status, 422)
    await stage.until(tenant, first.json.id, 'succeeded')
  })
})
