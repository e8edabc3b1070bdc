/** The charge for each way in which a call can end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAmount } from '../../../server/base/lib/money.ts'
import type { Facts, Model } from '../../../server/money/catalog/catalog.ts'
import type { RelayReport } from '../../../server/wire/dialects/relay.ts'
import { type ChargeInput, computeCharge } from '../../../server/work/pipeline/price/charge.ts'
import { boundHold, type HoldEstimate } from '../../../server/work/pipeline/price/hold-estimate.ts'

const model: Model = {
  id: 'm',
  type: 'chat',
  free: false,
  limits: {},
  routes: [],
  prices: [
    { unit: 'input_token', per: 1, amountNanos: 10n },
    { unit: 'output_token', per: 1, amountNanos: 100n },
  ],
  priceVersion: 1n,
  plannedPrices: [],
  currency: 'CNY',
  details: {},
  updatedAt: new Date(0),
}

const COST = { unit: 'vendor_cost', per: 1, amountNanos: 1n } as const

const NEEDS = ['input_token', 'output_token'] as const

const HELD: HoldEstimate = {
  quantities: { input_token: 20, output_token: 8 },
  alternatives: [{}],
  channels: [{}],
  ceiling: { inputTokens: 1_000, outputTokens: 2_000, others: 100 },
}

function charge(report: Partial<RelayReport>, more: Partial<ChargeInput> = {}) {
  return computeCharge({
    model,
    facts: {},
    holdNanos: 1_000n,
    holdEstimate: HELD,
    report: { outputBytes: 40, finished: true, ...report },
    complete: true,
    billsBroken: true,
    fallback: () => ({ input_token: 5, output_token: 3 }),
    ...more,
  })
}

test('stated usage is charged to the unit', () => {
  const result = charge({ usage: { input_token: 2, output_token: 3 } })
  assert.equal(result.nanos, 320n)
  assert.equal(result.basis, 'usage')
  assert.deepEqual(
    result.lines.map(({ unit, quantity, amount }) => [unit, quantity, amount]),
    [
      ['input_token', 2, '0.00000002'],
      ['output_token', 3, '0.0000003'],
    ],
  )
})

test('usage may be zero', () => {
  assert.equal(charge({ usage: { input_token: 0, output_token: 0 } }).nanos, 0n)
})

test('usage above the hold is charged: the ledger posts the overrun', () => {
  assert.equal(charge({ usage: { output_token: 50 } }).nanos, 5_000n)
})

test('a complete answer without usage is charged by estimate', () => {
  const result = charge({})
  assert.equal(result.nanos, 350n)
  assert.equal(result.basis, 'estimate')
})

test('stated usage is charged as stated up to the ceiling, however far above the hold', () => {
  const result = charge({ usage: { input_token: 1_000, output_token: 2_000 } })
  assert.deepEqual([result.nanos, result.review, result.basis], [210_000n, false, 'usage'])
})

test('usage beyond the ceiling is reduced to it, input and output separately, and reviewed', () => {
  const result = charge({ usage: { input_token: 900, output_token: 2 ** 52 } })
  assert.deepEqual([result.nanos, result.review], [209_000n, true])
  const mixed = charge({
    usage: { input_token: 3_000, cached_input_token: 1_000, output_token: 1 },
  })
  assert.deepEqual(
    mixed.lines.map(({ unit, quantity }) => [unit, quantity]),
    [
      ['input_token', 750],
      ['cached_input_token', 250],
      ['output_token', 1],
    ],
    'in the proportions in which it was stated',
  )
})

test('a quantity that is not a whole number counts as not stated and is estimated', () => {
  for (const quantity of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, null, '7']) {
    const usage = { input_token: 2, output_token: quantity } as RelayReport['usage']
    const result = charge({ ...(usage ? { usage } : {}) }, { needs: NEEDS })
    assert.deepEqual([result.nanos, result.basis, result.review], [320n, 'estimate', false])
  }
})

test('an estimate charges no more than the part of the hold that stated usage leaves', () => {
  const fallback = () => ({ input_token: 50, output_token: 500 })
  const none = charge({}, { needs: NEEDS, fallback })
  assert.ok(none.nanos !== null && none.nanos <= 1_000n && none.nanos >= 900n)
  const half = charge({ usage: { input_token: 40 } }, { needs: NEEDS, fallback })
  assert.deepEqual([half.nanos, half.basis], [1_000n, 'estimate'])
  const above = charge({ usage: { input_token: 300 } }, { needs: NEEDS, fallback })
  assert.deepEqual([above.nanos, above.basis], [3_000n, 'estimate'], 'what is stated is owed')
  for (const { nanos, lines } of [none, half, above]) {
    const sum = lines.reduce((total, { amount }) => total + (parseAmount(amount) ?? 0n), 0n)
    assert.equal(sum, nanos, 'the lines add up')
  }
})

test('one stated input unit is enough: a whole prompt may have come from a cache', () => {
  const result = charge({ usage: { cached_input_token: 9, output_token: 1 } }, { needs: NEEDS })
  assert.deepEqual([result.nanos, result.basis], [190n, 'usage'])
})

test('usage without a price is charged as the hold, or as stated if that is more', () => {
  const small = charge({ usage: { output_token: 1, audio_output_token: 1 } })
  assert.deepEqual([small.nanos, small.review], [1_000n, true])
  assert.deepEqual(
    small.lines.map(({ unit, quantity, amount }) => [unit, quantity, amount]),
    [
      ['input_token', 20, '0.0000002'],
      ['output_token', 8, '0.0000008'],
    ],
    'the record says what the hold was for',
  )
  const large = charge({ usage: { output_token: 50, web_search_call: 1 } })
  assert.deepEqual([large.nanos, large.review], [5_000n, true])
  const unknown = charge({ usage: { output_token: 1 }, unknownUsage: ['usage.dreams'] })
  assert.deepEqual([unknown.nanos, unknown.review], [1_000n, true])
  const tier = charge({ usage: { output_token: 1 } }, { facts: { service_tier: 'turbo' } })
  assert.deepEqual([tier.nanos, tier.review], [1_000n, true])
})

test('a cost that the vendor states is charged if the model is sold by it', () => {
  const cost = [...model.prices, { unit: 'vendor_cost', per: 1, amountNanos: 2n }] as const
  const selling = { ...model, prices: cost, currency: 'USD' }
  const statedCost = { nanos: 70n, currency: 'USD' }
  const result = charge({ usage: { output_token: 3 }, statedCost }, { model: selling })
  assert.deepEqual([result.nanos, result.basis, result.review], [140n, 'usage', false])
  const foreign = { usage: { output_token: 3 }, statedCost: { nanos: 70n, currency: 'CNY' } }
  assert.equal(charge(foreign, { model: selling }).nanos, 300n)
})

const BY_COST: Model = {
  ...model,
  currency: 'USD',
  prices: [...model.prices, COST],
}

test('a way of being served that has no price is held at the usual one if a cost is stated', () => {
  const usual = boundHold(BY_COST, HELD)
  assert.ok(usual > 0n)
  const heldFor = (prices: Model['prices'], facts: Facts) =>
    boundHold({ ...BY_COST, prices }, { ...HELD, alternatives: [facts] })
  for (const facts of [
    { service_tier: 'flex' },
    { service_tier: 'turbo', thinking: 'on' },
    { speed: 'fast', region: 'us' },
  ] as readonly Facts[]) {
    assert.equal(heldFor(BY_COST.prices, facts), usual)
    assert.equal(heldFor(model.prices, facts), 0n, 'such a request is refused')
  }
  const when = { service_tier: 'flex' }
  const flex = model.prices.map((entry) => ({
    ...entry,
    amountNanos: entry.amountNanos * 2n,
    when,
  }))
  assert.equal(heldFor([...BY_COST.prices, ...flex], when), 2n * usual)
})

test('a stated cost has everything in it, also what has no unit', () => {
  const statedCost = { nanos: 70n, currency: 'USD' }
  for (const report of [
    { usage: { output_token: 3 }, unknownUsage: ['usage.server_tool_use.datetime_requests'] },
    { usage: { output_token: 3, audio_output_token: 9 } },
    { unknownUsage: ['service_tier'] },
  ]) {
    const result = charge({ ...report, statedCost }, { model: BY_COST, needs: NEEDS })
    assert.deepEqual([result.nanos, result.basis, result.review], [70n, 'usage', false])
  }
})

test('a cost under a condition that does not hold is no statement of tokens', () => {
  const when = { service_tier: 'flex' }
  const cost = { unit: 'vendor_cost', per: 1, amountNanos: 1n, when } as const
  const flexible = { ...BY_COST, prices: [...model.prices, cost] }
  const statedCost = { nanos: 70n, currency: 'USD' }
  const standard = charge({ statedCost }, { model: flexible, needs: NEEDS })
  assert.deepEqual([standard.nanos, standard.basis], [350n, 'estimate'])
  const flex = charge({ statedCost }, { model: flexible, needs: NEEDS, facts: when })
  assert.deepEqual([flex.nanos, flex.basis], [70n, 'usage'])
})

test('work of another model is charged at its price, on separate lines', () => {
  const when = { model: 'sage' }
  const prices = [...model.prices, { unit: 'output_token', per: 1, amountNanos: 7n, when }] as const
  const passes = [{ model: 'sage', role: 'advisor', usage: { output_token: 5 } }]
  const sold = charge({ usage: { output_token: 1 }, passes }, { model: { ...model, prices } })
  assert.deepEqual([sold.nanos, sold.review], [135n, false])
  assert.deepEqual(sold.lines.at(-1)?.role, 'advisor')
  const unsold = charge({ usage: { output_token: 1 }, passes })
  assert.deepEqual([unsold.nanos, unsold.review], [1_000n, true])
})

test('a stream that broke off is charged for its delivered part if the vendor bills that', () => {
  const broken = charge({ finished: false }, { complete: false })
  assert.deepEqual([broken.nanos, broken.basis], [350n, 'partial'])
  const unbilled = charge({ finished: false }, { complete: false, billsBroken: false })
  assert.deepEqual([unbilled.nanos, unbilled.basis], [null, 'none'])
})

test('a stream that broke off before any content costs nothing', () => {
  assert.equal(charge({ finished: false, outputBytes: 0 }, { complete: false }).nanos, null)
})

test('stated usage is charged even if the stream broke off afterwards', () => {
  const result = charge({ usage: { input_token: 1 }, finished: false }, { complete: false })
  assert.deepEqual([result.nanos, result.basis], [10n, 'usage'])
})

test('a model sold by call or task costs one unit, regardless of stated usage', () => {
  const prices = [
    { unit: 'call', per: 1, amountNanos: 500n },
    { unit: 'task', per: 1, amountNanos: 70n },
  ] as const
  for (const report of [{ usage: { output_token: 9 } }, {}]) {
    assert.equal(charge(report, { model: { ...model, prices } }).nanos, 570n)
  }
  const broken = { model: { ...model, prices }, complete: false }
  assert.equal(charge({ outputBytes: 0 }, broken).nanos, null)
})

test('a free model is settled at zero', () => {
  const result = charge({ usage: { output_token: 9 } }, { model: { ...model, free: true } })
  assert.deepEqual([result.nanos, result.basis], [0n, 'usage'])
  assert.deepEqual(
    result.lines.map(({ unit, quantity, amount }) => [unit, quantity, amount]),
    [['output_token', 9, '0']],
  )
})

test('a way of serving without a price is charged at least as the requested way', () => {
  const served = (service_tier: string, usage: object) =>
    charge({ usage, facts: { service_tier } }, { facts: { service_tier } })
  const large = served('fast', { input_token: 500, output_token: 50 })
  assert.deepEqual([large.nanos, large.review], [10_000n, true], 'at the standard price')
  const small = served('fast', { input_token: 5, output_token: 5 })
  assert.deepEqual([small.nanos, small.review], [1_000n, true], 'the hold')
})

test('a stated cost beyond what the ceiling costs is reduced to that, and reviewed', () => {
  const sold = { ...model, currency: 'USD', prices: [...model.prices, COST] }
  const of = (nanos: bigint, outputTokens: number) => {
    const ceiling = { ...HELD.ceiling, outputTokens }
    const holdEstimate = { ...HELD, ceiling }
    const report = { usage: { output_token: 1 }, statedCost: { nanos, currency: 'USD' } }
    const result = charge(report, { model: sold, holdEstimate })
    return [result.nanos, result.review, result.basis]
  }
  const hundred = 100_000_000_000n
  assert.deepEqual(of(hundred, 1), [hundred, false, 'usage'], 'the fees of a vendor may be high')
  assert.deepEqual(of(hundred + 1n, 1), [hundred, true, 'usage'])
  assert.deepEqual(of(2n * hundred, 2e9), [2n * hundred, false, 'usage'])
  assert.deepEqual(of(9_000_000_000_000_000n, 2e9), [2n * hundred + 10_000n, true, 'usage'])
})
