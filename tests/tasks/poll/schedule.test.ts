import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  cooldownMs,
  nextPollMs,
  retryPollMs,
  TASK_TIMES,
} from '../../../server/work/tasks/schedule.ts'

const HALF = 0.5

test('the poll interval grows with the age of a task, within bounds', () => {
  const paces = [0, 100_000, 1e9, Number.POSITIVE_INFINITY]
  assert.deepEqual(
    paces.map((ageMs) => nextPollMs(ageMs, TASK_TIMES, HALF)),
    [2_000, 10_000, 30_000, 30_000],
  )
})

test('the backoff grows with each failed poll, within bounds', () => {
  const waits = [0, 1, 2, 5, 1_000].map((failures) => retryPollMs(failures, TASK_TIMES, 0, 1))
  assert.deepEqual(waits, [2_000, 4_000, 8_000, 60_000, 60_000])
})

test('a vendor’s Retry-After is a lower bound, up to ten minutes', () => {
  assert.equal(retryPollMs(0, TASK_TIMES, 30, HALF), 30_000)
  for (const seconds of [601, 1e9, 1e300]) {
    assert.equal(retryPollMs(0, TASK_TIMES, seconds, HALF), 600_000)
    assert.equal(cooldownMs(seconds), 600_000)
  }
  assert.equal(cooldownMs(), 1_000)
})
