/** The kind of a hosted tool decides its fee, in holds and in charges. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Unit } from '../../../server/base/lib/units.ts'
import type { Facts, PriceEntry } from '../../../server/money/catalog/catalog.ts'
import { priceCharge, priceUpperBound } from '../../../server/money/catalog/price/price.ts'
import { addToolFacts } from '../../../server/work/pipeline/hold/tool-facts.ts'

const price = (unit: Unit, amountNanos: bigint, tool?: string): PriceEntry => ({
  unit,
  per: 1,
  amountNanos,
  ...(tool === undefined ? {} : { when: { tool } }),
})
const prices = [
  price('container_minute', 4n, '4g'),
  price('container_minute', 64n, '64g'),
  price('container_minute', 1n),
  price('web_search_call', 25n, 'preview'),
  price('web_search_call', 10n),
]
const container = (tool?: string) => ({
  field: 'tools[0].type',
  value: 'code_interpreter',
  unit: 'container_minute' as const,
  ...(tool === undefined ? {} : { facts: { tool } }),
})
const search = (tool?: string) => ({ ...container(tool), unit: 'web_search_call' as const })

/** Returns the charge and the hold of one of each fee. */
function priced(...features: Parameters<typeof addToolFacts>[1]) {
  const [facts] = addToolFacts([{ service_tier: 'standard' }], features, { prices })
  const once = { container_minute: 1, web_search_call: 1 }
  assert.equal(facts.service_tier, 'standard')
  return [priceCharge(prices, once, facts).totalNanos, priceUpperBound(prices, once, [facts])]
}

test('the charge is that of the kind, each fee has its own, and the hold is as high', () => {
  assert.deepEqual(priced(container('4g'), search('preview')), [29n, 29n])
  assert.deepEqual(priced(container('4g'), search()), [14n, 14n])
  assert.deepEqual(priced(container('1g'), search()), [11n, 11n])
})

test('of several kinds the most expensive is charged', () => {
  assert.deepEqual(priced(container('1g'), container('64g'), search(), search('preview')), [
    89n,
    89n,
  ])
})

test('a container that is named by its id is held at the most expensive', () => {
  assert.deepEqual(priced(container(), search()), [11n, 74n])
})

test('every alternative has the kinds, and without tools nothing is added', () => {
  const alternatives: readonly [Facts, ...Facts[]] = [{}, { model: 'other' }]
  const [, other] = addToolFacts(alternatives, [container('4g')], { prices })
  assert.deepEqual(other, { model: 'other', 'tool:container_minute': '4g' })
  assert.equal(addToolFacts(alternatives, [], { prices }), alternatives)
})
