/** The rules of prices, one example each; price-rules.test.ts combines them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAmount } from '../../server/base/lib/money.ts'
import type { Quantities, Unit } from '../../server/base/lib/units.ts'
import type { Facts, PriceEntry } from '../../server/money/catalog/catalog.ts'
import { isPriced, priceCharge, priceUpperBound } from '../../server/money/catalog/price/price.ts'

const million = 1_000_000
const price = (unit: Unit, amount: string, per = 1, when?: PriceEntry['when']): PriceEntry => {
  const amountNanos = parseAmount(amount) ?? assert.fail(amount)
  return { unit, per, amountNanos, ...(when ? { when } : {}) }
}

test('each line is multiplied, divided and rounded up once', () => {
  const prices = [price('input_token', '0.15', million), price('output_token', '0.6', million)]
  assert.deepEqual(priceCharge(prices, { input_token: 7, output_token: 1 }, {}), {
    totalNanos: 1650n,
    lines: [
      { unit: 'input_token', quantity: 7, unit_price: '0.15', per: million, amount: '0.00000105' },
      { unit: 'output_token', quantity: 1, unit_price: '0.6', per: million, amount: '0.0000006' },
    ],
    unpriced: [],
  })
  assert.equal(
    priceCharge([price('character', '0.000000001', 3)], { character: 4 }, {}).totalNanos,
    2n,
  )
})

test('cached input and cache writes without their own price are priced as input', () => {
  const prices = [price('input_token', '2'), price('cache_write_token', '3')]
  const quantities = { input_token: 1, cached_input_token: 10, cache_write_token: 100 }
  assert.equal(priceCharge(prices, quantities, {}).totalNanos, 322_000_000_000n)
})

test('a unit without a price has a line of zero, a quantity of zero has none', () => {
  const { totalNanos, lines, unpriced } = priceCharge([], { call: 2, output_token: 0 }, {})
  assert.deepEqual(unpriced, ['call'])
  assert.equal(totalNanos, 0n)
  assert.deepEqual(lines, [{ unit: 'call', quantity: 2, unit_price: '0', per: 1, amount: '0' }])
})

test('the first entry whose conditions hold is the price', () => {
  const prices = [
    price('second', '4', 1, { resolution: '1080p', audio: true }),
    price('second', '3', 1, { resolution: '1080p' }),
    price('second', '2', 1, { seconds: { min: 5, below: 10 } }),
    price('second', '1'),
  ]
  const cost = (facts: Record<string, string | number | boolean>) =>
    priceCharge(prices, { second: 1 }, facts).totalNanos / 1_000_000_000n
  assert.equal(cost({ resolution: '1080p', audio: true }), 4n)
  assert.equal(cost({ resolution: '1080p', audio: false }), 3n)
  assert.equal(cost({ seconds: 5 }), 2n)
  assert.equal(cost({ seconds: 10 }), 1n)
  assert.equal(cost({ seconds: '7' }), 2n, 'a number in a text is in its range')
  assert.equal(cost({ seconds: '7s' }), 1n, 'another text is in none')
  assert.equal(cost(JSON.parse('{"__proto__": "1080p"}')), 1n)
})

test('tiers follow the tokens of the call itself, cached ones included', () => {
  const prices = [
    price('output_token', '1', 1, { input_tokens: { below: 100 } }),
    price('output_token', '2'),
  ]
  const cost = (quantities: Quantities) => priceCharge(prices, quantities, {}).totalNanos
  assert.equal(cost({ input_token: 99, output_token: 1 }), 1_000_000_000n)
  assert.equal(cost({ input_token: 60, cached_input_token: 40, output_token: 1 }), 2_000_000_000n)
})

test('the upper bound uses the highest price that may still apply', () => {
  const prices = [
    price('second', '5', 1, { audio: true }),
    price('second', '2', 1, { resolution: '480p' }),
    price('second', '9'),
  ]
  const bound = (facts: Record<string, string | boolean>) =>
    priceUpperBound(prices, { second: 1 }, [facts]) / 1_000_000_000n
  assert.equal(bound({}), 9n)
  assert.equal(bound({ resolution: '480p' }), 5n, 'the last entry cannot be reached any more')
  assert.equal(bound({ resolution: '480p', audio: false }), 2n)
})

test('the upper bound ignores tiers that the quantities cannot reach', () => {
  const prices = [
    price('input_token', '1', 1, { input_tokens: { below: 32_000 } }),
    price('input_token', '3', 1, { input_tokens: { min: 32_000 } }),
  ]
  assert.equal(priceUpperBound(prices, { input_token: 10 }, [{}]), 10_000_000_000n)
  assert.equal(priceUpperBound(prices, { input_token: 32_000 }, [{}]), 96_000_000_000_000n)
})

test('quantities that are not safe whole numbers are refused', () => {
  for (const bad of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    assert.throws(() => priceCharge([price('call', '1')], { call: bad }, {}), RangeError)
    assert.throws(() => priceUpperBound([price('call', '1')], { call: bad }, [{}]), RangeError)
  }
})

const nano = 1_000_000_000n
const nanosPerUnit = 1_000_000_000

test('a list of values holds for any of them', () => {
  const prices = [price('call', '3', 1, { tool: ['turbo', 'max'] }), price('call', '1')]
  const cost = (facts: Facts) => priceCharge(prices, { call: 1 }, facts).totalNanos / nano
  assert.equal(cost({ tool: 'max' }), 3n)
  assert.equal(cost({ tool: 'min' }), 1n)
  assert.equal(cost({}), 1n)
})

test('tokens served in a non-default way are priced only by entries that name it', () => {
  const prices = [
    price('input_token', '9', 1, { service_tier: ['fast', 'ultrafast'] }),
    price('input_token', '2'),
    price('output_token', '5'),
  ]
  const usage = { input_token: 1, output_token: 1 }
  const fast = priceCharge(prices, usage, { service_tier: 'fast' })
  assert.equal(fast.totalNanos, 9n * nano)
  assert.deepEqual(fast.unpriced, ['output_token'])
  assert.deepEqual(priceCharge(prices, usage, { speed: 'fast' }).unpriced, [
    'input_token',
    'output_token',
  ])
  assert.equal(priceCharge(prices, usage, {}).totalNanos, 7n * nano)
  for (const tier of ['standard', 'default']) {
    assert.equal(priceCharge(prices, usage, { service_tier: tier }).totalNanos, 7n * nano)
  }
})

test('a fee applies to any way of being served, but not to another model’s work', () => {
  const prices = [price('web_search_call', '1')]
  const cost = (facts: Facts) => priceCharge(prices, { web_search_call: 1 }, facts)
  assert.equal(cost({ service_tier: 'fast', region: 'eu' }).totalNanos, nano)
  assert.deepEqual(cost({ model: 'other' }).unpriced, ['web_search_call'])
})

test('a fact of the channel needs its own price only if the list names that fact', () => {
  const plain = [price('input_token', '2')]
  const regional = [price('input_token', '3', 1, { region: 'us' }), ...plain]
  const charge = (list: PriceEntry[], facts: Facts, region: string) =>
    priceCharge(list, { input_token: 1 }, facts, { region })
  assert.equal(charge(plain, {}, 'eu').totalNanos, 2n * nano)
  assert.equal(charge(regional, {}, 'us').totalNanos, 3n * nano)
  assert.deepEqual(charge(regional, {}, 'eu').unpriced, ['input_token'])
  assert.deepEqual(charge(plain, { region: 'us' }, 'eu').unpriced, ['input_token'])
  assert.equal(charge(regional, { region: 'us' }, 'global').totalNanos, 3n * nano)
})

test('a pass of another model is priced by the entries that name it, on its own lines', () => {
  const prices = [price('output_token', '7', 1, { model: 'adviser' }), price('output_token', '1')]
  const passes = [
    { model: 'adviser', role: 'advisor', usage: { output_token: 2 } },
    { model: 'stranger', role: 'fallback', usage: { output_token: 3 } },
  ]
  const { totalNanos, lines, unpriced } = priceCharge(prices, { output_token: 1 }, {}, {}, passes)
  assert.equal(totalNanos, 15n * nano)
  assert.deepEqual(
    lines.map(({ amount, model, role }) => [amount, model, role]),
    [
      ['1', undefined, undefined],
      ['14', 'adviser', 'advisor'],
      ['0', 'stranger', 'fallback'],
    ],
  )
  assert.deepEqual(unpriced, ['output_token'])
})

test('a priced vendor_cost is the whole charge, even at zero', () => {
  const tokens = price('output_token', '5')
  const margin = price('vendor_cost', '1.1', nanosPerUnit)
  const usage = { output_token: 3, vendor_cost: 1000 }
  const sold = priceCharge([tokens, margin], usage, { service_tier: 'odd' })
  assert.equal(sold.totalNanos, 1100n)
  assert.deepEqual(sold.unpriced, [])
  assert.deepEqual(
    sold.lines.map(({ unit, amount }) => [unit, amount]),
    [
      ['output_token', '0'],
      ['vendor_cost', '0.0000011'],
    ],
  )
  assert.equal(priceCharge([tokens, margin], { ...usage, vendor_cost: 0 }, {}).totalNanos, 0n)
  const other = price('output_token', '8', 1, { model: 'other' })
  const passes = [{ model: 'other', role: 'advisor', usage: { output_token: 2 } }]
  const whole = priceCharge([tokens, other, margin], usage, {}, {}, passes)
  assert.deepEqual([whole.totalNanos, whole.unpriced, whole.lines.length], [1100n, [], 3])
  const unsold = priceCharge([tokens], usage, {})
  assert.equal(unsold.totalNanos, 15n * nano)
  assert.deepEqual(unsold.unpriced, [])
})

test('the upper bound is that of the most expensive alternative and channel', () => {
  const prices = [
    price('input_token', '9', 1, { service_tier: 'fast', region: 'us' }),
    price('input_token', '4', 1, { service_tier: 'fast' }),
    price('input_token', '3', 1, { region: 'us' }),
    price('input_token', '1'),
  ]
  const bound = (alternatives: Facts[], channels?: Facts[]) =>
    priceUpperBound(prices, { input_token: 1 }, alternatives, channels) / nano
  assert.equal(bound([{}]), 1n, 'a strict fact that nobody states is the standard')
  assert.equal(bound([{}, { service_tier: 'fast' }]), 4n)
  assert.equal(bound([{}], [{ region: 'global' }, { region: 'us' }]), 3n)
})

test('a price of zero is a price; of a service tier only if it names the tier', () => {
  const prices = [
    price('input_token', '0'),
    price('input_token', '1', 1, { service_tier: 'flex', input_tokens: { below: 10 } }),
  ]
  assert.equal(isPriced(prices, 'input_token'), true)
  assert.equal(isPriced(prices, 'cached_input_token'), true)
  assert.equal(isPriced(prices, 'cache_write_1h_token'), false)
  assert.equal(isPriced(prices, 'input_token', { service_tier: 'flex' }), true)
  assert.equal(isPriced(prices, 'input_token', { service_tier: 'fast' }), false)
  assert.equal(isPriced(prices, 'input_token', {}, { service_tier: 'batch' }), false)
  assert.equal(isPriced(prices, 'input_token', {}, { region: 'eu' }), true)
})
