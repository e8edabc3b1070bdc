/** What a finished task is charged where its upstream states its usage in part, or oddly. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredPrice } from '../../../server/money/catalog/store.ts'
import { chargeTask } from '../../../server/work/tasks/finish/charge-task.ts'
import type { ClaimedTask } from '../../../server/work/tasks/task.ts'

const NANOS = 1_000_000_000n
const PRICES: readonly StoredPrice[] = [
  { unit: 'second', per: 1, amount: '1' },
  { unit: 'image', per: 1, amount: '0.1' },
]

/** Ordered: 5 seconds and 4 images with a fee, at a hold of 5.4. */
function taskOf(more: Partial<ClaimedTask> = {}): ClaimedTask {
  return {
    kind: 'video',
    facts: {},
    quantities: { second: 5, image: 4 },
    hold_amount: (54n * NANOS) / 10n,
    prices: PRICES,
    costs: PRICES,
    upstream_cost_version: 1n,
    ...more,
  } as ClaimedTask
}

type Usage = Readonly<Record<string, number>>

function charge(ending: { usage?: Usage; measured?: Usage }, more?: Partial<ClaimedTask>) {
  const { nanos, basis, cost } = chargeTask(taskOf(more), {
    state: 'succeeded',
    result: {},
    ...ending,
  })
  return { tenths: Number(nanos) / 1e8, basis, cost: Number(cost?.nanos) / 1e8 }
}

test('stated usage is charged as stated, whatever was ordered or measured', () => {
  const found = charge({ usage: { second: 7, image: 1 }, measured: { second: 6 } })
  assert.deepEqual(found, { tenths: 71, basis: 'usage', cost: 71 })
})

test('what is not stated is measured, and else charged as it was ordered', () => {
  assert.deepEqual(charge({}), { tenths: 54, basis: 'params', cost: 54 })
  assert.deepEqual(charge({ measured: { second: 4 } }), { tenths: 44, basis: 'params', cost: 44 })
  assert.deepEqual(charge({ usage: { second: 4 } }), { tenths: 44, basis: 'params', cost: 44 })
})

test('a measure that is no whole number from 0 on is none, in charge and cost alike', () => {
  for (const second of [-5, 5.04, Number.NaN, Number.POSITIVE_INFINITY, 1e300]) {
    const found = charge({ measured: { second } })
    assert.deepEqual(found, { tenths: 54, basis: 'params', cost: 54 }, String(second))
  }
})

test('a result says nothing of the input videos that are billed beside it', () => {
  const order = { quantities: { second: 20 }, hold_amount: 20n * NANOS }
  const found = charge({ measured: { second: 5 } }, { ...order, facts: { video_input: true } })
  assert.deepEqual(found, { tenths: 200, basis: 'params', cost: 200 })
})

for (const [name, more, second] of [
  ['a film', {}, 20],
  ['a film of other films', { facts: { video_input: true } }, 120],
  ['an erasure of a film', { kind: 'erase' as const }, 20],
  ['a film of many', { facts: { video_input: true }, quantities: { second: 50 } }, 200],
  ['a recording', { kind: 'minutes' as const }, 5_000],
] as const) {
  test(`seconds in milliseconds: ${name} is charged ${second} at most, for review`, () => {
    const order = taskOf({ quantities: { second: 5 }, hold_amount: 5n * NANOS, ...more })
    const ending = { state: 'succeeded', result: {}, usage: { second: 5_000 } } as const
    const { nanos, review, cost } = chargeTask(order, ending)
    assert.deepEqual([nanos, review], [BigInt(second) * NANOS, second < 5_000])
    assert.equal(cost === null, second < 5_000, 'a bill that nobody believes is no known cost')
  })
}

test('more pictures than were ordered: those of the order are charged, for review', () => {
  const charged = (image: number, more: Partial<ClaimedTask> = {}) => {
    const ending = { state: 'succeeded', result: {}, usage: { second: 5, image } } as const
    const { nanos, review } = chargeTask(taskOf(more), ending)
    return [Number(nanos) / 1e8, review]
  }
  assert.deepEqual(charged(4), [54, false])
  assert.deepEqual(charged(1e15), [54, true])
  assert.deepEqual(charged(1, { quantities: { second: 5, image: 0 } }), [50, true])
  assert.deepEqual(charged(1e15, { kind: 'image' }), [178, true])
})

test('a cost in another currency than the model’s is none: what was ordered is charged', () => {
  const cost = { unit: 'vendor_cost', per: 1_000_000_000, amount: '1' } as const
  const charged = (currency: string, costCurrency?: string) => {
    const order = taskOf({ currency, prices: [...PRICES, cost] })
    const usage = { vendor_cost: 2_000_000_000 }
    const ending = { state: 'succeeded', result: {}, usage, costCurrency } as const
    return Number(chargeTask(order, ending).nanos) / 1e8
  }
  assert.equal(charged('USD', 'USD'), 20)
  assert.equal(charged('CNY', 'USD'), 54)
  assert.equal(charged('CNY'), 20, 'a template of the operator’s states its own currency')
})

test('searches are charged as they are stated, and not as they were held', () => {
  const search = { unit: 'web_search_call', per: 1, amount: '0.2' } as const
  const quantities = { second: 5, web_search_call: 3 }
  const order = { prices: [...PRICES, search], costs: null, quantities, hold_amount: 6n * NANOS }
  const tenths = (usage?: Usage) => charge(usage ? { usage } : {}, order).tenths
  assert.equal(tenths({ second: 5, web_search_call: 7 }), 64)
  assert.equal(tenths({ second: 5, web_search_call: 0 }), 50)
  assert.equal(tenths({ second: 5 }), 50)
  assert.equal(tenths(), 50)
})

test('zero of all that was ordered is not stated, zero of a part is', () => {
  const nothing = charge({ usage: { second: 0, image: 0 } })
  assert.deepEqual(nothing, { tenths: 54, basis: 'params', cost: 54 })
  const part = charge({ usage: { second: 4, image: 0 } })
  assert.deepEqual(part, { tenths: 40, basis: 'usage', cost: 40 })
})
