/** Upstream costs: computed like prices, and never zero if they are unknown. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Quantities } from '../../../server/base/lib/units.ts'
import type { PriceEntry, RouteCost } from '../../../server/money/catalog/catalog.ts'
import { computeCharge } from '../../../server/work/pipeline/price/charge.ts'
import {
  computeUpstreamCost,
  costOfFailure,
  type UpstreamCostInput,
} from '../../../server/work/pipeline/price/upstream-cost.ts'

const input: PriceEntry = { unit: 'input_token', per: 1000, amountNanos: 7n }
const output: PriceEntry = { unit: 'output_token', per: 1, amountNanos: 50n }
const routeCost = (...entries: PriceEntry[]): RouteCost => ({
  version: 3n,
  currency: 'CNY',
  entries,
})

function cost(entries: readonly PriceEntry[], more: Partial<UpstreamCostInput> = {}) {
  return computeUpstreamCost(routeCost(...entries), {
    charge: { nanos: 1n, review: false },
    usage: { input_token: 1001, output_token: 2 },
    facts: {},
    mostStated: () => 1_000n,
    fallback: () => assert.fail('nothing had to be estimated'),
    ...more,
  })
}

test('stated usage is costed to the unit, rounded up once per line', () => {
  assert.deepEqual(cost([input, output]), { nanos: 108n, version: 3n })
})

test('a route without costs is unknown, not free', () => {
  const ended = { charge: { nanos: 5n, review: false }, usage: {}, facts: {}, fallback: () => ({}) }
  assert.equal(computeUpstreamCost(undefined, { ...ended, mostStated: () => 0n }), null)
  const free = cost([{ unit: 'call', per: 1, amountNanos: 0n }])
  assert.deepEqual(free, { nanos: 0n, version: 3n })
})

test('reviewed and uncharged calls have no known cost', () => {
  assert.equal(cost([output], { charge: { nanos: 9n, review: true } }), null)
  assert.equal(cost([output], { charge: { nanos: null, review: false } }), null)
  assert.equal(cost([{ ...output, amountNanos: 10n ** 18n }]), null)
})

test('a billed unit that was not stated is estimated, or else the cost is unknown', () => {
  const second: PriceEntry = { unit: 'second', per: 60, amountNanos: 6_000n }
  const known = cost([output, second], { fallback: () => ({ second: 30, output_token: 99 }) })
  assert.deepEqual(known, { nanos: 3_100n, version: 3n })
  assert.equal(cost([output, second], { fallback: () => ({ output_token: 99 }) }), null)
})

test('caches and conditions may be absent, and a call is one call', () => {
  const cached: PriceEntry = { unit: 'cached_input_token', per: 1, amountNanos: 1n }
  const large: PriceEntry = { unit: 'image', per: 1, amountNanos: 900n, when: { size: 'large' } }
  const call: PriceEntry = { unit: 'call', per: 1, amountNanos: 4n }
  assert.equal(cost([output, cached, large, call])?.nanos, 104n)
})

test('a failed call costs nothing if its outcome is certain', () => {
  assert.deepEqual(costOfFailure(routeCost(output), 'rejected'), { nanos: 0n, version: 3n })
  assert.deepEqual(costOfFailure(routeCost(output), 'busy'), { nanos: 0n, version: 3n })
  assert.equal(costOfFailure(routeCost(output), 'unknown'), null)
  assert.equal(costOfFailure(undefined, 'rejected'), null)
})

const ENDLESS = { inputTokens: 2 ** 50, outputTokens: 2 ** 50, others: 2 ** 50 }

test('equal prices and costs leave no margin, for any usage', () => {
  const entries = fc.array(
    fc.record({
      unit: fc.constantFrom('input_token', 'cached_input_token', 'output_token', 'call'),
      per: fc.integer({ min: 1, max: 1_000_000 }),
      amountNanos: fc.bigInt({ min: 0n, max: 10n ** 10n }),
    }),
    { minLength: 1, maxLength: 6 },
  )
  const amounts = fc.integer({ min: 0, max: 10_000 })
  const usage = fc.record({
    input_token: amounts,
    cached_input_token: amounts,
    output_token: amounts,
  })
  fc.assert(
    fc.property(entries, usage, (list: readonly PriceEntry[], used: Quantities) => {
      const charge = computeCharge({
        model: { type: 'chat', free: false, prices: list, currency: 'CNY' },
        facts: {},
        holdNanos: 10n ** 15n,
        holdEstimate: { quantities: used, alternatives: [{}], channels: [{}], ceiling: ENDLESS },
        report: { outputBytes: 1, finished: true, usage: used },
        complete: true,
        billsBroken: true,
        fallback: () => ({}),
      })
      const same = computeUpstreamCost(routeCost(...list), {
        charge,
        usage: used,
        facts: {},
        mostStated: () => 0n,
        fallback: () => ({}),
      })
      assert.equal(same?.nanos, charge.nanos)
    }),
    { numRuns: 2_000 },
  )
})

test('a cost that the vendor states replaces the computed one', () => {
  const stated = { nanos: 108n, currency: 'CNY' }
  const booked = (nanos: bigint, more: Partial<UpstreamCostInput> = {}) =>
    cost([input, output], { stated: { ...stated, nanos }, currency: 'CNY', ...more })
  assert.deepEqual(booked(107n), { nanos: 107n, version: 3n })
  assert.deepEqual(booked(140n), { nanos: 140n, version: 3n, isFarFromUsage: true })
  assert.deepEqual(booked(0n), { nanos: 0n, version: 3n, isFarFromUsage: true })
  assert.equal(
    booked(5n, { currency: 'USD' })?.nanos,
    108n,
    'a cost in another currency is ignored',
  )
  const reviewed = booked(9n, { charge: { nanos: 1n, review: true } })
  assert.deepEqual(reviewed, { nanos: 9n, version: 0n }, 'known though the usage is doubted')
  const unknown = { charge: { nanos: 1n, review: false }, usage: {}, facts: {} }
  const most = { mostStated: () => 1_000n }
  const alone = { ...unknown, ...most, stated, currency: 'CNY', fallback: () => ({}) }
  assert.deepEqual(computeUpstreamCost(undefined, alone), { nanos: 108n, version: 0n })
})

test('passes of other models cost what the route pays for those models', () => {
  const wise: PriceEntry = { unit: 'output_token', per: 1, amountNanos: 900n, when: { model: 'w' } }
  const passes = [{ model: 'w', role: 'advisor', usage: { output_token: 2 } }]
  assert.equal(cost([wise, input, output], { passes })?.nanos, 108n + 1800n)
})

test('a unit that only some calls have does not make a cost unknown', () => {
  const search: PriceEntry = { unit: 'web_search_call', per: 1, amountNanos: 4n }
  const hour: PriceEntry = { unit: 'cache_write_1h_token', per: 1, amountNanos: 4n }
  assert.equal(cost([input, output, search, hour])?.nanos, 108n)
  const read: PriceEntry = { unit: 'cached_input_token', per: 1, amountNanos: 1n }
  const usage = { cached_input_token: 5, output_token: 1 }
  assert.equal(cost([input, output, read], { usage })?.nanos, 55n, 'a prompt all from a cache')
})
