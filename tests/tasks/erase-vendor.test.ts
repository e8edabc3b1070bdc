/** What the vendor of erasures can answer, and what it means for the caller and the money. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '../support/processes.ts'
import { type EraseStage, startEraseStage } from './erase-stage.ts'

describe('the vendor of erasures', () => {
  let stage: EraseStage
  before(async () => {
    stage = await startEraseStage()
  })
  after(() => stage.stop())

  async function attempt(words: string) {
    const tenant = await stage.gateway.tenant()
    const id = await stage.scripted(tenant, words)
    const answer = await stage.create(tenant, { video_task_id: id, model: 'erase-paid' })
    const balance = await stage.gateway.balance(tenant.accountId)
    return { tenant, answer, balance }
  }

  const refusals: readonly [string, number, RegExp][] = [
    ['status=400', 400, /./],
    ['moderation', 400, /the video is refused/],
    ['status=401', 502, /^upstream provider error$/],
    ['status=403', 502, /^upstream provider error$/],
    ['status=429', 429, /^rate limit exceeded$/],
    ['status=503', 502, /^upstream provider error$/],
  ]
  for (const [words, status, text] of refusals) {
    test(`${words}: ${status}, and the hold goes back at once`, async () => {
      const { answer, balance } = await attempt(`[[fault:${words}]]`)
      assert.equal(answer.status, status, answer.text)
      assert.match(answer.json.error, text)
      assert.equal(balance.held, 0n)
    })
  }

  test('a lost answer is never sent again: given up, paid back, the cost is noted', async () => {
    const { tenant, answer, balance } = await attempt('[[fault:lost-answer]]')
    assert.equal(answer.status, 502)
    assert.ok(balance.held > 0n, 'nobody knows yet')
    const request = answer.headers.get('x-request-id') ?? ''
    const { sql } = stage.gateway
    const [task] = await until(
      'its end',
      async () => {
        const rows = await sql`
          select t.state, t.error_code, o.reason from task t
          left join orphan_cost o on o.task_id = t.id
          where t.request_id = ${request} and t.finished_at is not null`
        return rows.length > 0 ? rows : undefined
      },
      20_000,
    )
    assert.deepEqual(
      { ...task },
      {
        ...{ state: 'failed', error_code: 'submission_unknown', reason: 'unknown_submit' },
      },
    )
    assert.equal((await stage.gateway.balance(tenant.accountId)).held, 0n)
    const record = await stage.gateway.record(answer, tenant.key)
    assert.deepEqual([record.status, record.charged], ['failed', '0'])
  })

  for (const [words, state] of [
    ['fail-task', 'failed'],
    ['poll-storm=3', 'succeeded'],
    ['poll-errors=3', 'succeeded'],
    ['vanishes', 'failed'],
  ] as const) {
    test(`${words}: the task has ${state}`, async () => {
      const { tenant, answer } = await attempt(`[[fault:${words}]]`)
      const done = await stage.ended(tenant, answer.json.id)
      assert.equal(done.status, state)
      const record = await stage.gateway.record(answer, tenant.key)
      assert.equal(record.charged, state === 'succeeded' ? '0.05' : '0')
    })
  }
})
