/** Cooldowns and half-open probes under an injected clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChannelHealth } from '../../../server/work/pipeline/load/channel-health.ts'

function setUp() {
  const clock = { nowMs: 1_000 }
  return { clock, health: createChannelHealth(() => clock.nowMs) }
}

test('a channel cools down after three failures in a row, and a success resets the count', () => {
  const { health } = setUp()
  health.failed('a')
  health.failed('a')
  health.succeeded('a')
  health.failed('a')
  health.failed('a')
  assert.equal(health.isReady('a'), true)
  health.failed('a')
  assert.equal(health.isReady('a'), false)
})

test('after the cooldown exactly one call probes, and its outcome decides', () => {
  const { clock, health } = setUp()
  for (let failure = 0; failure < 3; failure += 1) health.failed('a')
  clock.nowMs += 5_000
  assert.equal(health.isReady('a'), true, 'the probe')
  assert.equal(health.isReady('a'), false, 'only one at a time')
  health.failed('a')
  clock.nowMs += 5_000
  assert.equal(health.isReady('a'), false, 'the second rest is longer')
  clock.nowMs += 5_000
  assert.equal(health.isReady('a'), true)
  health.succeeded('a')
  assert.equal(health.isReady('a'), true)
  assert.equal(health.isReady('a'), true)
})

test('a Retry-After starts a cooldown at once, of two minutes at most', () => {
  const { clock, health } = setUp()
  health.failed('a', 7_000)
  assert.deepEqual(health.coolingDown(), [{ channel: 'a', forMs: 7_000 }])
  clock.nowMs += 7_000
  assert.equal(health.isReady('a'), true)
  health.failed('b', 3_600_000)
  assert.deepEqual(health.coolingDown(), [{ channel: 'b', forMs: 120_000 }])
})

test('a probe without a result is replaced by another after its timeout', () => {
  const { clock, health } = setUp()
  health.failed('a', 1_000)
  clock.nowMs += 1_000
  assert.equal(health.isReady('a'), true)
  clock.nowMs += 30_000
  assert.equal(health.isReady('a'), true)
})
