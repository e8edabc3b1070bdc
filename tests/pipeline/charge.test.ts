/** What is owed for every way a call can end: the charge table of the design, row by row. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Model } from '../../server/catalog/catalog.ts'
import type { RelayReport } from '../../server/dialects/relay.ts'
import { type ChargeInput, computeCharge } from '../../server/pipeline/charge.ts'

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

function charge(report: Partial<RelayReport>, more: Partial<ChargeInput> = {}) {
  return computeCharge({
    model,
    facts: {},
    holdNanos: 1_000n,
    held: { quantities: { input_token: 20, output_token: 8 }, facts: {} },
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

test('usage above the hold is charged: the ledger finds the rest', () => {
  assert.equal(charge({ usage: { output_token: 50 } }).nanos, 5_000n)
})

test('a complete answer without usage is charged by estimate', () => {
  const result = charge({})
  assert.equal(result.nanos, 350n)
  assert.equal(result.basis, 'estimate')
})

test('absurd usage charges the hold and asks for review', () => {
  for (const quantity of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e18, 2 ** 53, 101]) {
    const result = charge({ usage: { output_token: quantity } })
    assert.deepEqual([result.nanos, result.review], [1_000n, true], `usage ${quantity}`)
    assert.deepEqual(
      result.lines.map(({ unit, quantity, amount }) => [unit, quantity, amount]),
      [
        ['input_token', 20, '0.0000002'],
        ['output_token', 8, '0.0000008'],
      ],
      'the record says what the hold was for',
    )
  }
})

test('a stream that broke off owes what was delivered, where the vendor bills that', () => {
  const broken = charge({ finished: false }, { complete: false })
  assert.deepEqual([broken.nanos, broken.basis], [350n, 'partial'])
  const unbilled = charge({ finished: false }, { complete: false, billsBroken: false })
  assert.deepEqual([unbilled.nanos, unbilled.basis], [null, 'none'])
})

test('a stream that broke off before any content owes nothing', () => {
  assert.equal(charge({ finished: false, outputBytes: 0 }, { complete: false }).nanos, null)
})

test('usage that was stated counts even when the stream broke off afterwards', () => {
  const result = charge({ usage: { input_token: 1 }, finished: false }, { complete: false })
  assert.deepEqual([result.nanos, result.basis], [10n, 'usage'])
})

test('what is sold by the call or task costs one, whatever the upstream counts', () => {
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
