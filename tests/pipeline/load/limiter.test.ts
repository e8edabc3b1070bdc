/** Rates of one process, under an injected clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLimiter } from '../../../server/work/pipeline/load/limiter.ts'

test('the limit of one minute is admitted at once, further calls at the rate of the limit', () => {
  let nowMs = 0
  const limiter = createLimiter(() => nowMs)
  for (let call = 0; call < 6; call += 1) assert.equal(limiter.enter('a', 6), 0)
  assert.equal(limiter.enter('a', 6), 10)
  assert.equal(limiter.enter('b', 6), 0)
  nowMs = 9_999
  assert.equal(limiter.enter('a', 6), 1)
  nowMs = 10_000
  assert.equal(limiter.enter('a', 6), 0)
  assert.equal(limiter.enter('a', 6), 10)
})

test('rounding errors of the clock refuse no call', () => {
  for (let start = 0.1; start < 1e6; start *= 1.7) {
    assert.equal(createLimiter(() => start).enter('a', 1), 0)
  }
})

test('what has happened counts beyond the limit, and delays at most a minute', () => {
  let nowMs = 0
  const limiter = createLimiter(() => nowMs)
  limiter.add('a', 60, 59)
  assert.equal(limiter.wait('a', 60), 0)
  limiter.add('a', 60, 1)
  assert.equal(limiter.wait('a', 60), 1)
  assert.equal(limiter.wait('b', 60), 0)
  limiter.add('a', 60, 1_000_000)
  assert.equal(limiter.wait('a', 60), 61)
  nowMs = 61_000
  assert.equal(limiter.wait('a', 60), 0)
})

test('dropping empty buckets reads few for each new one, however many are in use', (t) => {
  let nowMs = 0
  let read = 0
  const iterate = Map.prototype[Symbol.iterator]
  const replace = (value: unknown) =>
    Object.defineProperty(Map.prototype, Symbol.iterator, { value })
  // A mock of the runner does not restore what a symbol names, for all files of this process.
  t.after(() => replace(iterate))
  replace(function* (this: Map<unknown, unknown>) {
    for (const entry of { [Symbol.iterator]: () => iterate.call(this) }) {
      read += 1
      yield entry
    }
  })
  const limiter = createLimiter(() => nowMs)
  const callers = 150_000
  for (let caller = 0; caller < callers; caller += 1) {
    limiter.enter(`${caller}`, 1)
    if (caller === callers / 2) nowMs = 61_000
  }
  replace(iterate)
  assert.ok(read > 0 && read <= 3 * callers, `${read} read for ${callers}`)
})
