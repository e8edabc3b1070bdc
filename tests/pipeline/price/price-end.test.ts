/** The end of a call is read once: charge, cost and record see the same quantities. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAmount } from '../../../server/base/lib/money.ts'
import type { Quantities } from '../../../server/base/lib/units.ts'
import type { PriceEntry } from '../../../server/money/catalog/catalog.ts'
import { priceCharge } from '../../../server/money/catalog/price/price.ts'
import type { RelayReport } from '../../../server/wire/dialects/relay.ts'
import type { BillableCall } from '../../../server/work/pipeline/hold/take-hold.ts'
import type { ChargeLine } from '../../../server/work/pipeline/price/charge.ts'
import { withListAmounts } from '../../../server/work/pipeline/price/list-amount.ts'
import { priceEnd, withoutUnstated } from '../../../server/work/pipeline/price-end.ts'
import type { UsableRoute } from '../../../server/work/pipeline/request/find-routes.ts'

const PRICES: readonly PriceEntry[] = [
  { unit: 'input_token', per: 1, amountNanos: 10n },
  { unit: 'output_token', per: 1, amountNanos: 100n },
]

const COST: PriceEntry = { unit: 'vendor_cost', per: 1, amountNanos: 1n }

/** Prices an answer, a complete one, of a call for which one token each is estimated. */
function priceUsage(usage: Quantities) {
  return priceReport({ usage }, true)
}

function priceReport(stated: Partial<RelayReport>, complete: boolean) {
  const once: Quantities = { input_token: 1, output_token: 1 }
  const quoted = {
    amountNanos: 1_000n,
    facts: {},
    quantities: once,
    alternatives: [{}],
    channels: [{}],
    ceiling: { inputTokens: 1_000, outputTokens: 1_000, others: 100 },
  }
  const billable = {
    metering: { billsBroken: true, needs: ['input_token', 'output_token'], fallback: () => once },
    call: { model: { prices: [...PRICES, COST], currency: 'CNY' }, request: {} },
    quoted,
    services: { upstreams: new Map() },
  } as unknown as BillableCall
  const route = {
    target: { upstream: 'none', settings: {} },
    cost: { version: 1n, currency: 'CNY', entries: PRICES },
  } as unknown as UsableRoute
  const report = { outputBytes: 4, finished: complete, ...stated }
  return priceEnd(billable, route, { report, complete })
}

test('what is stated is charged, costed and recorded', () => {
  const { charge, cost, usage } = priceUsage({ input_token: 2, output_token: 3 })
  assert.deepEqual([charge.nanos, cost?.nanos], [320n, 320n])
  assert.deepEqual(usage, { input_token: 2, output_token: 3 })
})

for (const wrong of [7.5, -3, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
  test(`a count of ${wrong} is no quantity anywhere`, () => {
    const { charge, cost, usage } = priceUsage({ input_token: 2, output_token: wrong })
    assert.deepEqual(usage, { input_token: 2 })
    assert.deepEqual([charge.nanos, cost?.nanos], [120n, 120n])
  })
}

for (const [name, usage, stated, nanos] of [
  ['both sides', { input_token: 0, output_token: 0 }, {}, 110n],
  ['the output', { input_token: 2, output_token: 0 }, { input_token: 2 }, 120n],
  ['the input', { input_token: 0, output_token: 3 }, { output_token: 3 }, 310n],
] as const) {
  test(`zero for ${name} is no statement about an answer with output`, () => {
    const { charge, usage: kept } = priceUsage(usage)
    assert.deepEqual([kept, charge.nanos], [stated, nanos])
  })
}

test('zero is believed of an answer without output, and where a pass did the work', () => {
  const usage = { input_token: 0, output_token: 0 }
  const pass = { model: 'other', role: 'fallback', usage: { input_token: 1 } }
  const needs = ['input_token', 'output_token'] as const
  const none = { usage, outputBytes: 0, finished: true }
  const passed = { usage, passes: [pass], outputBytes: 4, finished: true }
  assert.deepEqual([withoutUnstated(none, needs), withoutUnstated(passed, needs)], [none, passed])
})

test('a running cost of zero is no statement about output that broke off', () => {
  const statedCost = { nanos: 0n, currency: 'CNY' }
  assert.equal(priceReport({ statedCost }, false).charge.nanos, 110n)
  assert.equal(priceReport({ statedCost, outputBytes: 0 }, false).charge.nanos, 0n)
  assert.equal(priceReport({ statedCost }, true).charge.nanos, 0n, 'a free call')
  const running = { nanos: 7n, currency: 'CNY' }
  assert.equal(priceReport({ statedCost: running }, false).charge.nanos, 7n)
})

test('an absurd cost that the vendor states is cut alike in the charge and in the books', () => {
  const of = (nanos: bigint) => {
    const statedCost = { nanos, currency: 'CNY' }
    const { charge, cost } = priceReport({ usage: { output_token: 1 }, statedCost }, true)
    return [charge.nanos, charge.review, cost?.nanos, cost?.isFarFromUsage]
  }
  const hundred = 100_000_000_000n
  assert.deepEqual(of(hundred), [hundred, false, hundred, true], 'far from the usage')
  assert.deepEqual(of(9n * 10n ** 15n), [hundred, true, hundred, true])
})

test('each pass of one model has its own amount at the base prices', () => {
  const pass = (output: number) => {
    return { model: 'sage', role: 'advisor', usage: { input_token: 1, output_token: output } }
  }
  const passes = [pass(2), pass(3), pass(2), { ...pass(4), role: 'fallback' }]
  const others = PRICES.map((one) => ({ ...one, when: { model: 'sage' } }))
  const prices = [...PRICES, ...others]
  const { lines, totalNanos } = priceCharge(prices, { input_token: 5 }, {}, {}, passes)
  const base = prices.map((one) => ({ ...one, amountNanos: one.amountNanos * 2n }))
  const charge: { nanos: bigint; lines: readonly ChargeLine[] } = { nanos: totalNanos, lines }
  const listed = withListAmounts(charge, base, { facts: {}, channelFacts: {} })
  assert.deepEqual(
    listed.lines.map(({ list_amount: amount = '' }) => (parseAmount(amount) ?? 0n) / 2n),
    lines.map(({ amount }) => parseAmount(amount)),
  )
})
