/** What the vendor of erasures can answer, and what it means for the caller and the money. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
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

  for (const [words, state] of [
    ['fail-task', 'failed'],
    ['fail-task;unsuccessful', 'failed'],
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

  test('polls that fail again and again are stated in the timeline', async () => {
    const { tenant, answer } = await attempt('[[fault:poll-errors=6]]')
    assert.equal((await stage.ended(tenant, answer.json.id)).status, 'succeeded')
    const { json } = await stage.gateway.get(`/v1/tasks/${answer.json.id}/timeline`, tenant.key)
    const stated = json.events.filter(({ event }: { event: string }) => event === 'polls_failing')
    assert.deepEqual(
      stated.map(({ failures, reason }: Record<string, unknown>) => [failures, reason]),
      [[5, 'failed']],
    )
  })
})
