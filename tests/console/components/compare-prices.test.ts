import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparePrices } from '../../../console/src/components/prices/compare-prices.ts'
import { shareRoutes } from '../../../console/src/features/operator-models/route-shares.ts'

test('prices are paired by unit, quantity and condition, whatever their order', () => {
  const before = [
    { unit: 'input_token', per: 1_000_000, amount: '2', when: { tier: 'flex', region: 'eu' } },
    { unit: 'input_token', per: 1_000_000, amount: '0.3' },
    { unit: 'call', per: 1, amount: '0' },
    { unit: 'output_token', per: 1000, amount: '1' },
  ]
  const after = [
    { unit: 'input_token', per: 1_000_000, amount: '0.1' },
    { unit: 'input_token', per: 1_000_000, amount: '3', when: { region: 'eu', tier: 'flex' } },
    { unit: 'call', per: 1, amount: '1' },
    { unit: 'output_token', per: 1_000_000, amount: '1' },
  ]
  const pairs = comparePrices(before, after)
  assert.deepEqual(
    pairs.map(({ unit, per, before: old, after: next }) => [unit, per, old, next]),
    [
      ['input_token', 1_000_000, '0.3', '0.1'],
      ['input_token', 1_000_000, '2', '3'],
      ['call', 1, '0', '1'],
      ['output_token', 1_000_000, undefined, '1'],
      ['output_token', 1000, '1', undefined],
    ],
  )
  assert.deepEqual(
    pairs.map(({ share }) => share?.toFixed(4)),
    ['-0.6667', '0.5000', undefined, undefined, undefined],
  )
})

test('weights share the traffic among routes of the same priority', () => {
  const routes = [
    { priority: 0, weight: 2 },
    { priority: '0', weight: '1' },
    { priority: 1, weight: 7 },
    { priority: 2, weight: '' },
  ]
  assert.deepEqual(
    shareRoutes(routes).map((share) => share.toFixed(3)),
    ['0.667', '0.333', '1.000', '0.000'],
  )
})
