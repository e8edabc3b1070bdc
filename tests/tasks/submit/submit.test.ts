/** Submissions that do not end well: refused, lost, ambiguous. Never sent twice, never overpaid. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { until } from '../../support/until.ts'
import {
  BODY,
  CHARGE,
  CONTENTS_PATH,
  startTaskStage,
  type TaskStage,
  VIDEO_PATH,
} from '../stage.ts'

describe('a submission', () => {
  let stage: TaskStage
  before(async () => {
    stage = await startTaskStage()
  })
  beforeEach(() => {
    stage.vendor.advance = true
  })
  after(() => stage.stop())

  const posts = () => stage.vendor.requests.filter((one) => one.startsWith('POST')).length

  async function ending(requestId: string) {
    const readTask = async () => {
      const [task] = await stage.gateway.sql<{ id: string; state: string; error_code: string }[]>`
        select id, state, error_code from task where request_id = ${requestId}`
      return task && ['succeeded', 'failed'].includes(task.state) && task
    }
    return until(`the end of the task of ${requestId}`, readTask)
  }

  const refusals: readonly [number, string, number, RegExp][] = [
    [400, 'InvalidParameter', 400, /InvalidParameter/],
    [400, 'InputTextSensitiveContentDetected', 400, /Sensitive/],
    [401, 'AuthenticationError', 502, /^upstream provider error$/],
    [403, 'AccountOverdueError', 502, /^upstream provider error$/],
    [404, 'ModelNotOpen', 502, /^upstream provider error$/],
    [429, 'RateLimitExceeded.EndpointRPMExceeded', 429, /^rate limit exceeded$/],
    [500, 'InternalServiceError', 502, /^upstream provider error$/],
    [503, 'ServerOverloaded', 502, /^upstream provider error$/],
    [504, 'GatewayTimeout', 502, /^upstream provider error$/],
  ]
  for (const [status, code, expected, text] of refusals) {
    test(`${status} ${code}: ${expected}, and the hold goes back at once`, async () => {
      const tenant = await stage.gateway.tenant()
      stage.vendor.fail('POST', status, code)
      const answer = await stage.create(tenant)
      assert.equal(answer.status, expected, answer.text)
      assert.match(answer.json.error, text)
      assert.ok(!answer.text.includes('0217abc'), 'the vendor’s request id stays here')
      const balance = await stage.gateway.balance(tenant.accountId)
      assert.deepEqual([balance.held, balance.available], [0n, 100_000_000_000n])
      const { json } = await stage.gateway.get(VIDEO_PATH, tenant.key)
      assert.deepEqual(json.data, [], 'a task that nobody got an id of is not listed')
    })
  }

  test('a lost answer: our id, the task is found in the list, adopted and charged once', async () => {
    const tenant = await stage.gateway.tenant()
    const before = posts()
    stage.vendor.loseAnswers(1)
    stage.vendor.lists = false
    const header = { 'idempotency-key': 'lost' }
    const body = { ...BODY, model: 'test-video-1' }
    const answer = await stage.create(tenant, body, VIDEO_PATH, header)
    assert.deepEqual([answer.status, answer.json.upstream_id], [200, null], answer.text)
    assert.ok((await stage.gateway.balance(tenant.accountId)).held > 0n, 'nobody knows yet')
    const meanwhile = await stage.create(tenant, body, VIDEO_PATH, header)
    assert.deepEqual([meanwhile.status, meanwhile.text], [200, answer.text], 'the key names it')
    stage.vendor.lists = true
    const task = await ending(answer.headers.get('x-request-id') ?? '')
    assert.equal(task.state, 'succeeded')
    assert.equal(posts() - before, 1, 'it was sent once')
    assert.equal((await stage.gateway.record(answer, tenant.key)).charged, '1.7424')
    const events = await stage.timeline(tenant, task.id)
    assert.deepEqual(events.slice(0, 3), ['held', 'attempt_unknown', 'adopted'])
    const again = await stage.create(tenant, body, VIDEO_PATH, header)
    assert.equal(again.status, 200)
    assert.equal(again.text, answer.text, 'the key still answers as it did')
    assert.equal(answer.json.id, task.id)
    const { json } = await stage.gateway.get(`${VIDEO_PATH}/${task.id}`, tenant.key)
    for (const id of [task.id, json.upstream_id]) {
      const native = await stage.gateway.get(`${CONTENTS_PATH}/${id}`, tenant.key)
      assert.equal(native.json.id, id, 'asked by either id, it answers with that one')
    }
  })

  test('an answer that comes after the lease is lost still names the task', async () => {
    const tenant = await stage.gateway.tenant()
    const { sql } = stage.gateway
    for (const attempt of ['sending', 'unknown']) {
      stage.vendor.onTask = async () => {
        stage.vendor.onTask = undefined
        // A worker that has claimed the task in between, and looks for it until the next minute.
        await sql`
          update task set fence = fence + 1, due_at = now() + interval '1 minute'
          where account_id = ${tenant.accountId} and finished_at is null`
        await sql`
          update task_attempt set state = ${attempt}
          where task_id in (select id from task where account_id = ${tenant.accountId}
            and finished_at is null)`
      }
      const answer = await stage.create(tenant)
      assert.equal(answer.status, 200, answer.text)
      assert.match(answer.json.upstream_id, /./, answer.text)
      const task = await ending(answer.headers.get('x-request-id') ?? '')
      assert.equal(task.state, 'succeeded')
      const costs = await sql`select 1 from uncharged_cost where task_id = ${task.id}`
      assert.equal(costs.length, 0, 'the charge has the cost')
    }
  })

  test('a video is never handed to another submission that may have made it', async () => {
    const tenant = await stage.gateway.tenant()
    // The model of no other case: attempts of the same time are what this is about.
    const body = { ...BODY, model: 'test-video-free' }
    stage.vendor.fail('POST', 500, 'InternalServiceError')
    assert.equal((await stage.create(tenant, body)).status, 502)
    // The vendor took the first after all, and loses the second before it takes it.
    const [old] = stage.vendor.tasks.values()
    assert.ok(old)
    const createdAt = Math.floor(Date.now() / 1000)
    const model = 'doubao-seedance-2-5-260628'
    stage.vendor.tasks.set('cgt-of-the-first', { ...old, id: 'cgt-of-the-first', model, createdAt })
    stage.vendor.fail('POST', 502, '')
    const second = await stage.create(tenant, body)
    assert.deepEqual([second.status, second.json.upstream_id], [200, null], second.text)
    const task = await ending(second.headers.get('x-request-id') ?? '')
    assert.equal(task.error_code, 'submission_unknown')
    const costs = await stage.gateway.sql`
      select reason from uncharged_cost where task_id = ${task.id}`
    assert.deepEqual(
      costs.map(({ reason }) => reason),
      ['ambiguous_submit'],
    )
  })

  test('two lost answers at once cannot be told apart: both paid back, costs noted', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.loseAnswers(2)
    stage.vendor.lists = false
    const body = { ...BODY, model: 'test-video-seconds' }
    const answers = await Promise.all([stage.create(tenant, body), stage.create(tenant, body)])
    stage.vendor.lists = true
    const requests = answers.map(({ headers }) => headers.get('x-request-id') ?? '')
    for (const request of requests) assert.equal((await ending(request)).state, 'failed')
    const costs = await stage.gateway.sql`
      select reason from uncharged_cost o join task t on t.id = o.task_id
      where t.request_id = any(${requests}::text[])`
    assert.deepEqual(
      costs.map(({ reason }) => reason),
      ['ambiguous_submit', 'ambiguous_submit'],
    )
    assert.equal((await stage.gateway.balance(tenant.accountId)).held, 0n)
  })

  test('an id that another task has: our id, paid back, and the other one is charged once', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.advance = false
    const first = await stage.create(tenant)
    stage.vendor.nextId = first.json.upstream_id
    const second = await stage.create(tenant)
    assert.deepEqual([second.status, second.json.upstream_id], [200, null], second.text)
    const { error_code: code } = await ending(second.headers.get('x-request-id') ?? '')
    assert.equal(code, 'submission_unknown')
    stage.vendor.advance = true
    await stage.until(tenant, first.json.id, 'succeeded')
    assert.equal((await stage.gateway.record(first, tenant.key)).charged, CHARGE)
    const { held, available } = await stage.gateway.balance(tenant.accountId)
    assert.deepEqual([held, available], [0n, 100_000_000_000n - 5_009_400_000n])
  })

  test('a caller that hangs up before the answer still has its task, by its key', async () => {
    const tenant = await stage.gateway.tenant()
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'gone' }
    const before = posts()
    const leaving = new AbortController()
    const sent = stage.gateway.fetch(VIDEO_PATH, {
      method: 'POST',
      key: tenant.key,
      headers,
      body: JSON.stringify(BODY),
      signal: leaving.signal,
    })
    await until('the submission', () => posts() > before)
    leaving.abort()
    await sent.catch(() => undefined)
    const again = await until('the end of the first request', async () => {
      const answer = await stage.create(tenant, BODY, VIDEO_PATH, { 'idempotency-key': 'gone' })
      return answer.status !== 409 && answer
    })
    assert.equal(again.status, 200, again.text)
    await stage.until(tenant, again.json.id, 'succeeded')
    assert.equal(posts() - before, 1)
  })
})
