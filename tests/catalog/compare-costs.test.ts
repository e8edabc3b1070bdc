/** Prices compared with costs, for models that are sold in more than one way. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  compareCosts,
  findGivenAway,
  findPriceProblems,
  type SoldModel,
} from '../../server/money/catalog/compare-costs.ts'
import type { StoredPrice } from '../../server/money/catalog/store.ts'

const entry = (
  unit: StoredPrice['unit'],
  amount: string,
  when?: StoredPrice['when'],
): StoredPrice => ({ unit, per: 1, amount, ...(when ? { when } : {}) })

const sold = (prices: StoredPrice[], costs: StoredPrice[]) => ({
  type: 'chat' as const,
  free: false,
  currency: 'USD',
  prices,
  routes: [
    {
      channel: 'main',
      upstream_model: 'x',
      priority: 0,
      weight: 1,
      costs,
      currency: 'USD',
      upstream_cost_version: '1',
    },
  ],
})

const fast = { service_tier: 'fast' }

test('a non-default way of being served has its own cost, or an unknown one', () => {
  const prices = [entry('output_token', '4'), entry('output_token', '9', fast)]
  const margins = (costs: StoredPrice[]) =>
    compareCosts(sold(prices, costs)).map(({ margin }) => margin)
  assert.deepEqual(margins([entry('output_token', '3')]), ['1', null])
  assert.deepEqual(margins([entry('output_token', '3'), entry('output_token', '8', fast)]), [
    '1',
    '1',
  ])
})

test('a five-minute cache write falls back to a cache write, and that to input', () => {
  const prices = [entry('cache_write_5m_token', '3')]
  const margin = (cost: StoredPrice) => compareCosts(sold(prices, [cost]))[0]?.margin
  assert.equal(margin(entry('cache_write_token', '2')), '1')
  assert.equal(margin(entry('input_token', '1')), '2')
  assert.equal(margin(entry('output_token', '1')), null)
})

test('a cost under a condition, or of a unit, that no price names is reported', () => {
  const input = entry('input_token', '3')
  const output = entry('output_token', '9')
  const long = { input_tokens: { min: 1_000 } }
  const problems = (prices: StoredPrice[], ...costs: StoredPrice[]) =>
    findPriceProblems(sold([...prices, output], costs)).map(({ problem, unit }) => [problem, unit])
  const cheap = entry('input_token', '2')
  const longCost = entry('input_token', '4', long)
  assert.deepEqual(problems([input], longCost, cheap), [['below_cost', 'input_token']])
  const write = entry('cache_write_token', '4')
  assert.deepEqual(problems([input], cheap, write), [['below_cost', 'cache_write_token']])
  const covered = [entry('input_token', '5', long), input]
  assert.deepEqual(problems(covered, longCost, cheap), [])
  const wider = [entry('input_token', '5', { input_tokens: { min: 500 } }), input]
  assert.deepEqual(problems(wider, longCost, cheap), [], 'another condition decides')
  assert.deepEqual(problems([input], cheap, entry('input_token', '9', fast)), [], 'not sold')
})

test('prices of other models only are not reported as gaps', () => {
  const image = entry('image_output_token', '30', { model: 'painter' })
  const prices = [entry('output_token', '4'), image]
  assert.deepEqual(findPriceProblems(sold(prices, prices)), [])
})

test('tokens that a text model gives away are reported', () => {
  const second = entry('second', '1')
  const problems = (...prices: StoredPrice[]) => findPriceProblems(sold(prices, [second]))
  assert.deepEqual(
    problems(second).map(({ problem, unit }) => [problem, unit]),
    [
      ['unpriced', 'input_token'],
      ['unpriced', 'output_token'],
    ],
  )
  assert.deepEqual(problems(second, entry('call', '1')), [])
  assert.deepEqual(problems(second, entry('output_token', '1')), [])
  const free = (type: SoldModel['type'], ...units: StoredPrice['unit'][]) =>
    findGivenAway(
      type,
      units.map((unit) => entry(unit, '1')),
    )
  assert.deepEqual(free('chat', 'input_token'), ['output_token'])
  assert.deepEqual(free('chat', 'cached_input_token'), ['input_token', 'output_token'])
  assert.deepEqual(free('embedding', 'cached_input_token'), ['input_token'])
  assert.deepEqual(free('embedding', 'input_token'), [])
  assert.deepEqual(free('chat'), [], 'a free model')
  const speech = { ...sold([second], [second]), type: 'speech' as const }
  assert.deepEqual(findPriceProblems(speech), [])
})
