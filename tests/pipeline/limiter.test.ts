/** Rates and concurrency under an injected clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLimiter, type Leave } from '../../server/pipeline/load/limiter.ts'

function entered(result: Leave | { retryAfterSeconds: number }): Leave {
  assert.equal(typeof result, 'function')
  return result as Leave
}

test('the limit of one minute is admitted at once, further calls at the rate of the limit', () => {
  let nowMs = 0
  const limiter = createLimiter({ nowMs: () => nowMs, shares: () => 1 })
  const limited = [{ subject: 'key:a', limits: { requests_per_minute: 6 } }]
  for (let call = 0; call < 6; call += 1) entered(limiter.enter(limited))()
  assert.deepEqual(limiter.enter(limited), { retryAfterSeconds: 10 })
  nowMs = 9_999
  assert.deepEqual(limiter.enter(limited), { retryAfterSeconds: 1 })
  nowMs = 10_000
  entered(limiter.enter(limited))()
  assert.deepEqual(limiter.enter(limited), { retryAfterSeconds: 10 })
})

test('a refused call does not count towards the other limits', () => {
  const limiter = createLimiter({ nowMs: () => 0, shares: () => 1 })
  const wide = { subject: 'account:a', limits: { requests_per_minute: 2 } }
  const narrow = { subject: 'key:a', limits: { requests_per_minute: 1 } }
  entered(limiter.enter([wide, narrow]))
  assert.notEqual(typeof limiter.enter([wide, narrow]), 'function')
  entered(limiter.enter([wide]))
})

test('concurrency counts running calls, and each frees its slot once', () => {
  const limiter = createLimiter({ nowMs: () => 0, shares: () => 1 })
  const limited = [{ subject: 'key:a', limits: { concurrent_calls: 2 } }]
  const first = entered(limiter.enter(limited))
  entered(limiter.enter(limited))
  assert.deepEqual(limiter.enter(limited), { retryAfterSeconds: 1 })
  first()
  first()
  entered(limiter.enter(limited))
  assert.notEqual(typeof limiter.enter(limited), 'function')
})

test('several processes share a limit, but each admits at least one call', () => {
  const limiter = createLimiter({ nowMs: () => 0, shares: () => 3 })
  const six = [{ subject: 'key:a', limits: { requests_per_minute: 6, concurrent_calls: 6 } }]
  entered(limiter.enter(six))
  entered(limiter.enter(six))
  assert.notEqual(typeof limiter.enter(six), 'function')
  entered(limiter.enter([{ subject: 'key:b', limits: { concurrent_calls: 1 } }]))
})

test('without limits every call is admitted', () => {
  const limiter = createLimiter({ nowMs: () => 0, shares: () => 1 })
  for (let call = 0; call < 10_000; call += 1) {
    entered(limiter.enter([{ subject: 'key:a', limits: {} }]))
  }
})

test('rounding errors of the clock refuse no call', () => {
  for (let start = 0.1; start < 1e6; start *= 1.7) {
    const limiter = createLimiter({ nowMs: () => start, shares: () => 1 })
    entered(limiter.enter([{ subject: 'key:a', limits: { requests_per_minute: 1 } }]))
  }
})
