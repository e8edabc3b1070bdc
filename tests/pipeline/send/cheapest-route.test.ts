/** `"routing": "cheapest"`: the order of routes by cost, and what is the same as without it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadRoutes, readPrices } from '../../../server/money/catalog/load/load-model.ts'
import { describeOrder } from '../../../server/money/catalog/load/route-order.ts'
import { MODEL_TYPES, unitsOfType } from '../../../server/money/catalog/model-types.ts'
import { expectedCost } from '../../../server/money/catalog/price/expected-cost.ts'
import type { ModelRow, StoredPrice } from '../../../server/money/catalog/store.ts'
import { orderRoutes, type UsableRoute } from '../../../server/work/pipeline/request/find-routes.ts'
import type { Services } from '../../../server/work/pipeline/services.ts'
import { createRandom } from '../../../testbed/random.ts'

const TIMES = 2_000
const tokens = (input: string, output: string): StoredPrice[] => [
  { unit: 'input_token', per: 1_000_000, amount: input },
  { unit: 'output_token', per: 1_000_000, amount: output },
]

type Drawn = Pick<ModelRow, 'routes' | 'type' | 'currency' | 'details'>

const route = (channel: string, more: Partial<Drawn['routes'][number]> = {}) => ({
  channel,
  upstream_model: 'm',
  priority: 0,
  weight: 1,
  ...(more.costs ? { currency: 'USD', upstream_cost_version: '1' } : {}),
  ...more,
})

const modelOf = (routes: Drawn['routes'], routing = 'cheapest'): Drawn => {
  return { type: 'chat', currency: 'USD', details: { routing }, routes }
}

/** Routes as the pipeline has them, and the services that say which channels work. */
function order(model: Drawn, failing: ReadonlySet<string>, session?: string) {
  const routes = loadRoutes(model).map((one) => {
    const target = { id: one.channel, upstream: 'x', version: 1, settings: {} }
    return { ...one, target } satisfies UsableRoute
  })
  const services = {
    health: { isReady: (id: string) => !failing.has(id) },
    spending: { hasRoom: () => true },
  } as unknown as Services
  const affinity = session === undefined ? undefined : { keyId: 'k', session }
  return orderRoutes(routes, services, affinity)
}

test('cheaper routes come first, unknown costs last, failing channels behind all', () => {
  const random = createRandom(20261125)
  for (let turn = 0; turn < TIMES; turn += 1) {
    const failing = new Set<string>()
    const routes = Array.from({ length: random.integer(2, 6) }, (_, index) => {
      const channel = `c${index}`
      if (random.next() < 0.2) failing.add(channel)
      const costs = [undefined, tokens('1', '4'), tokens('2', '8'), tokens('1', '4.000001')]
      const cost = costs[random.integer(0, costs.length - 1)]
      return route(channel, {
        priority: random.integer(0, 2),
        weight: random.integer(1, 9),
        ...(cost ? { costs: cost } : {}),
      })
    })
    const ordered = order(modelOf(routes), failing)
    assert.equal(new Set(ordered.map(({ channel }) => channel)).size, routes.length)
    for (const [index, next] of ordered.slice(1).entries()) {
      const one = ordered[index]
      const isReady = !failing.has(one?.channel ?? '')
      const isNextReady = !failing.has(next.channel)
      assert.ok(Number(isReady) >= Number(isNextReady))
      if (isReady !== isNextReady) continue
      const costs = [one?.expectedCost ?? 2n ** 62n, next.expectedCost ?? 2n ** 62n] as const
      assert.ok(costs[0] <= costs[1], `${costs}`)
      if (costs[0] === costs[1]) assert.ok((one?.priority ?? 0) <= next.priority)
    }
  }
})

test('at equal costs the order is the one without costs, and a conversation keeps its channel', () => {
  const random = createRandom(7)
  for (let turn = 0; turn < TIMES / 10; turn += 1) {
    const routes = Array.from({ length: 4 }, (_, index) => {
      const costs = tokens('1', '4')
      return route(`c${index}`, { costs, priority: random.integer(0, 1), weight: index + 1 })
    })
    const session = `s${turn}`
    const names = (routing: string) =>
      order(modelOf(routes, routing), new Set(), session).map(({ channel }) => channel)
    assert.deepEqual(names('cheapest'), names('priority'))
    const cheaper = [...routes, route('cheap', { costs: tokens('0.5', '4'), priority: 9 })]
    assert.equal(order(modelOf(cheaper), new Set(), session)[0]?.channel, 'cheap')
    assert.notEqual(order(modelOf(cheaper, 'priority'), new Set(), session)[0]?.channel, 'cheap')
  }
})

test('what is not comparable is unknown, and the order says why', () => {
  const stated: StoredPrice[] = [{ unit: 'vendor_cost', per: 1_000_000_000, amount: '1' }]
  const tiered: StoredPrice[] = [
    { unit: 'input_token', per: 1_000_000, amount: '9', when: { input_tokens: { min: 200_000 } } },
    ...tokens('1', '3'),
  ]
  const routes = [
    route('dear', { costs: tokens('2', '8') }),
    route('stated', { costs: stated }),
    { ...route('foreign', { costs: tokens('0.1', '0.1') }), currency: 'CNY' },
    route('tiered', { costs: tiered, priority: 3 }),
    route('same', { costs: tokens('1', '3') }),
    route('none'),
  ]
  assert.deepEqual(
    describeOrder(modelOf(routes)).map(({ channel, because, expected_cost }) => {
      return [channel, because, expected_cost]
    }),
    [
      ['same', 'priority', 6_000_000n],
      ['tiered', 'cost', 6_000_000n],
      ['dear', 'cost', 14_000_000n],
      ['stated', 'unknown_cost', null],
      ['foreign', 'unknown_cost', null],
      ['none', 'unknown_cost', null],
    ],
  )
  const plain = describeOrder(modelOf(routes.slice(0, 4), 'priority'))
  assert.deepEqual(
    plain.map(({ because, expected_cost }) => [because, expected_cost]),
    [
      ['weight', null],
      ['weight', null],
      ['priority', null],
      ['priority', null],
    ],
  )
})

test('what a model is sold by has a usual amount, so that its costs can be compared', () => {
  const main = /^(?:input_token|output_token|character|second|image|task|call|search_unit)$/
  for (const type of MODEL_TYPES) {
    // Seconds of sound in a chat are beside its tokens, as its pictures are: a usual one has none.
    const isMain = (unit: string) => main.test(unit) && !(type === 'chat' && unit === 'second')
    for (const unit of unitsOfType(type).filter(isMain)) {
      const entries = readPrices([{ unit, per: 1, amount: '1' }], type)
      assert.notEqual(expectedCost(entries, type), undefined, `${type} by ${unit}`)
    }
  }
})
