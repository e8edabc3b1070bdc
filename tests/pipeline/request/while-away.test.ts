/** Calls that arrive while the database is away wait for it, and for nothing else. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUnavailable } from '../../../server/base/database/unavailable.ts'
import { GatewayError } from '../../../server/base/lib/errors.ts'
import { QueueFull } from '../../../server/base/lib/queues/batcher.ts'
import { createWhileAway } from '../../../server/work/pipeline/request/while-away.ts'

const whileAway = createWhileAway(60_000, isUnavailable)
const away = Object.assign(new Error('no server'), { code: 'ECONNREFUSED' })
const unavailable = (cause?: unknown) => new GatewayError('unavailable', { cause })

/** Rejects with each of `errors`, one after the other, and then succeeds. */
function failing(...errors: readonly unknown[]) {
  let attempts = 0
  return {
    attempts: () => attempts,
    async attempt(): Promise<string> {
      attempts += 1
      if (attempts <= errors.length) throw errors[attempts - 1]
      return 'done'
    },
  }
}

test('repeats what fails while the database is away', async () => {
  const work = failing(away, unavailable(away), unavailable())
  const context = { startedAt: performance.now() }
  assert.equal(await whileAway(context, work.attempt), 'done')
  assert.equal(work.attempts(), 4)
})

for (const [what, error] of [
  ['an error of the caller', new GatewayError('insufficient_balance')],
  ['a full queue', new QueueFull('queue is full')],
  ['a refusal for another reason', unavailable('the caller has left')],
  ['a statement that the database rejects', Object.assign(new Error(), { code: '22P02' })],
] as const) {
  test(`does not repeat ${what}`, async () => {
    const work = failing(error)
    const context = { startedAt: performance.now() }
    await assert.rejects(whileAway(context, work.attempt), error)
    assert.equal(work.attempts(), 1)
  })
}

test('gives up when the time is over, and at once without any', async () => {
  const work = failing(away, away, away)
  const old = { startedAt: performance.now() - 61_000 }
  await assert.rejects(whileAway(old, work.attempt), away)
  const atOnce = createWhileAway(0, isUnavailable)
  await assert.rejects(atOnce({ startedAt: performance.now() }, work.attempt), away)
  assert.equal(work.attempts(), 2)
})

test('gives up for a caller who has left', async () => {
  const work = failing(away, away)
  const context = { startedAt: performance.now(), end: { at: 0, status: 499 } }
  await assert.rejects(whileAway(context, work.attempt), away)
  assert.equal(work.attempts(), 1)
})
