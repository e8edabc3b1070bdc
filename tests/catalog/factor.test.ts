/** Factors on prices: exact, rounded up once. The dearest costs of several routes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findDearestCost } from '../../server/money/catalog/price/dearest-cost.ts'
import { formatFactor, parseFactor, scalePrices } from '../../server/money/catalog/price/factor.ts'
import type { StoredPrice, StoredRoute } from '../../server/money/catalog/store.ts'

function times(amount: string, factor: string): string | undefined {
  const scale = parseFactor(factor)
  assert.notEqual(scale, undefined)
  const entry: StoredPrice = { unit: 'input_token', per: 1_000_000, amount }
  return scalePrices([entry], scale ?? 0n)?.[0]?.amount
}

test('an amount times a factor is exact and rounded up to a nano', () => {
  const vectors = [
    ['0.15', '1.15', '0.1725'],
    ['0.000000001', '1.000001', '0.000000002'],
    ['0.6', '0.65', '0.39'],
    ['2.5', '7.1234', '17.8085'],
    ['0.546875', '1', '0.546875'],
    ['3', '0', '0'],
    ['0.1', '0.3', '0.03'],
    ['0.000000001', '0.000001', '0.000000001'],
    ['999999999.999999999', '1', '999999999.999999999'],
  ] as const
  for (const [amount, factor, expected] of vectors) {
    assert.equal(times(amount, factor), expected, `${amount} x ${factor}`)
  }
  assert.equal(times('999999999.999999999', '1.000001'), undefined, 'too large to be written')
})

test('a factor is a decimal of six digits on either side', () => {
  for (const text of ['1.1234567', '-1', '', '.5', '1.', '01', '1e3', '1000000', ' 1', 'NaN']) {
    assert.equal(parseFactor(text), undefined, text)
  }
  assert.equal(formatFactor(parseFactor('1.150') ?? 0n), '1.15')
  assert.equal(formatFactor(parseFactor('0') ?? 1n), '0')
})

function route(channel: string, costs?: readonly StoredPrice[], currency = 'USD'): StoredRoute {
  const known = costs ? { costs, currency, upstream_cost_version: `v-${channel}` } : {}
  return { channel, upstream_model: 'm', priority: 0, weight: 1, ...known }
}

const input = (amount: string, more: object = {}): StoredPrice => {
  return { unit: 'input_token', per: 1000, amount, ...more }
}
const above = (tokens: number) => ({ when: { input_tokens: { min: tokens } } })

test('the dearest cost is that of the dearest route, unit by unit', () => {
  const found = findDearestCost(
    [
      route('a', [input('1'), { unit: 'output_token', per: 1000, amount: '9' }]),
      route('b', [
        input('3000', { per: 1_000_000 }),
        { unit: 'output_token', per: 1000, amount: '2' },
      ]),
    ],
    'USD',
  )
  assert.ok('costs' in found)
  assert.deepEqual(found.versions, ['v-a', 'v-b'])
  assert.deepEqual(
    found.costs.map(({ unit, per, amount }) => [unit, per, amount]),
    [
      ['input_token', 1_000_000, '3000'],
      ['output_token', 1000, '9'],
    ],
  )
})

test('tiers of one route never lower what another asks', () => {
  const found = findDearestCost(
    [
      route('a', [input('4', above(200)), input('2')]),
      route('b', [input('5', above(300)), input('3', above(200)), input('1')]),
    ],
    'USD',
  )
  assert.ok('costs' in found)
  /** The price of the first entry that applies. */
  const priceAt = (costs: readonly StoredPrice[], tokens: number) =>
    Number(
      costs.find(({ when }) => {
        const bound = when?.input_tokens
        return (
          bound === undefined ||
          (typeof bound === 'object' && 'min' in bound && tokens >= (bound.min ?? 0))
        )
      })?.amount,
    )
  for (const [tokens, least] of [
    [100, 2],
    [250, 4],
    [350, 5],
  ] as const) {
    assert.ok(priceAt(found.costs, tokens) >= least, `${tokens} tokens`)
  }
})

test('a unit without a cost of its own has those of the unit that stands in for it', () => {
  const cached: StoredPrice = { unit: 'cached_input_token', per: 1000, amount: '1' }
  const routes = [
    route('a', [input('4', above(200)), input('2')]),
    route('b', [input('2'), cached]),
  ]
  const found = findDearestCost(routes, 'USD')
  assert.ok('costs' in found)
  const costs = found.costs.filter(({ unit }) => unit === cached.unit)
  assert.deepEqual(costs, [
    { ...cached, amount: '4', ...above(200) },
    { ...cached, amount: '2' },
  ])
})

test('work of another model has the cost that stands in, beside an unconditional one too', () => {
  const cached = { unit: 'cached_input_token', per: 1000 } as const
  const other = { when: { model: 'advisor' } }
  const routes = [
    route('a', [input('1'), { ...cached, amount: '1', ...other }]),
    route('b', [input('5', other), input('2'), { ...cached, amount: '0.1' }]),
  ]
  const found = findDearestCost(routes, 'USD')
  assert.ok('costs' in found)
  const advised = found.costs.filter(({ unit, when }) => unit === cached.unit && when)
  assert.deepEqual(advised, [{ ...cached, amount: '5', ...other }])
})

test('an unknown cost is no cost', () => {
  const problemOf = (routes: StoredRoute[]) => {
    const found = findDearestCost(routes, 'USD')
    return 'problem' in found ? found.problem : undefined
  }
  const known = route('a', [input('1')])
  assert.match(problemOf([known, route('b')]) ?? '', /route b\/m has no costs/)
  assert.match(problemOf([route('a', [input('1')], 'CNY')]) ?? '', /costs in CNY/)
  assert.match(problemOf([]) ?? '', /no route/)
  const stated: StoredPrice = { unit: 'vendor_cost', per: 1, amount: '1' }
  assert.match(problemOf([route('a', [stated, input('1')])]) ?? '', /vendor_cost/)
  assert.equal(problemOf([known]), undefined)
})
