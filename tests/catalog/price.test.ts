/** Prices against exact rational arithmetic, over many random price lists. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Condition, PriceEntry } from '../../server/catalog/catalog.ts'
import { priceCharge, priceUpperBound } from '../../server/catalog/price.ts'
import { parseAmount } from '../../server/lib/money.ts'
import { type Quantities, UNITS, type Unit } from '../../server/lib/units.ts'

const million = 1_000_000
const price = (unit: Unit, amount: string, per = 1, when?: PriceEntry['when']): PriceEntry => {
  const amountNanos = parseAmount(amount) ?? assert.fail(amount)
  return { unit, per, amountNanos, ...(when ? { when } : {}) }
}

test('each line multiplies, divides and rounds up once', () => {
  const prices = [price('input_token', '0.15', million), price('output_token', '0.6', million)]
  assert.deepEqual(priceCharge(prices, { input_token: 7, output_token: 1 }, {}), {
    totalNanos: 1650n,
    lines: [
      { unit: 'input_token', quantity: 7, unitPrice: '0.15', per: million, amount: '0.00000105' },
      { unit: 'output_token', quantity: 1, unitPrice: '0.6', per: million, amount: '0.0000006' },
    ],
  })
  assert.equal(
    priceCharge([price('character', '0.000000001', 3)], { character: 4 }, {}).totalNanos,
    2n,
  )
})

test('cached input and cache writes without a price of their own are input', () => {
  const prices = [price('input_token', '2'), price('cache_write_token', '3')]
  const quantities = { input_token: 1, cached_input_token: 10, cache_write_token: 100 }
  assert.equal(priceCharge(prices, quantities, {}).totalNanos, 322_000_000_000n)
})

test('a unit without a price has a line of zero, a quantity of zero has none', () => {
  const { totalNanos, lines } = priceCharge([], { call: 2, output_token: 0 }, {})
  assert.equal(totalNanos, 0n)
  assert.deepEqual(lines, [{ unit: 'call', quantity: 2, unitPrice: '0', per: 1, amount: '0' }])
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
  assert.equal(cost({ seconds: '7' }), 1n, 'a text is not in a range')
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

test('the upper bound takes the dearest entry that may still apply, and no other', () => {
  const prices = [
    price('second', '5', 1, { audio: true }),
    price('second', '2', 1, { resolution: '480p' }),
    price('second', '9'),
  ]
  const bound = (facts: Record<string, string | boolean>) =>
    priceUpperBound(prices, { second: 1 }, facts) / 1_000_000_000n
  assert.equal(bound({}), 9n)
  assert.equal(bound({ resolution: '480p' }), 5n, 'the last entry cannot be reached any more')
  assert.equal(bound({ resolution: '480p', audio: false }), 2n)
})

test('the upper bound leaves out tiers that the quantities cannot reach', () => {
  const prices = [
    price('input_token', '1', 1, { input_tokens: { below: 32_000 } }),
    price('input_token', '3', 1, { input_tokens: { min: 32_000 } }),
  ]
  assert.equal(priceUpperBound(prices, { input_token: 10 }, {}), 10_000_000_000n)
  assert.equal(priceUpperBound(prices, { input_token: 32_000 }, {}), 96_000_000_000_000n)
})

test('quantities that are not safe whole numbers are refused', () => {
  for (const bad of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    assert.throws(() => priceCharge([price('call', '1')], { call: bad }, {}), RangeError)
    assert.throws(() => priceUpperBound([price('call', '1')], { call: bad }, {}), RangeError)
  }
})

// The model: one price per unit and fact set, found by brute force, in exact fractions. --------

const facts = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 0, max: 4 }), {
  noNullPrototype: true,
})
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.integer({ min: 0, max: 4 }),
  fc.record({ min: fc.integer({ min: 0, max: 2 }), below: fc.integer({ min: 3, max: 5 }) }),
  fc.record({ min: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ below: fc.integer({ min: 0, max: 4 }) }),
)
const entry: fc.Arbitrary<PriceEntry> = fc.record(
  {
    unit: fc.constantFrom(...UNITS),
    per: fc.oneof(fc.constantFrom(1, 1000, million), fc.integer({ min: 1, max: million })),
    amountNanos: fc.bigInt({ min: 0n, max: 10n ** 13n }),
    when: fc.dictionary(fc.constantFrom('a', 'b', 'input_tokens'), condition, {
      noNullPrototype: true,
      maxKeys: 2,
    }),
  },
  { requiredKeys: ['unit', 'per', 'amountNanos'] },
)
const quantities = fc.dictionary(
  fc.constantFrom(...UNITS),
  fc.oneof(fc.integer({ min: 0, max: 6 }), fc.maxSafeNat()),
  { noNullPrototype: true },
) as fc.Arbitrary<Quantities>

/** Whose price holds for a unit that has none, in this order. */
const STAND_INS: Partial<Record<Unit, readonly Unit[]>> = {
  cached_input_token: ['input_token'],
  cache_write_token: ['input_token'],
  cache_write_5m_token: ['cache_write_token', 'input_token'],
  cached_audio_input_token: ['audio_input_token'],
  image_input_token: ['input_token'],
  cached_image_input_token: ['cached_input_token', 'input_token'],
  video_input_token: ['input_token'],
}

function inputTokens(all: Quantities): number {
  const counts = UNITS.filter((unit) => unit.includes('input_token') || unit.includes('write'))
  return counts.reduce((sum, unit) => sum + (all[unit] ?? 0), 0)
}

/** The exact price of a unit as a fraction, straight from the rules. */
function exact(prices: readonly PriceEntry[], unit: Unit, all: Quantities, known: object) {
  const table: Record<string, unknown> = { input_tokens: inputTokens(all), ...known }
  const suits = ({ when = {} }: PriceEntry) =>
    Object.keys(when).every((name) => {
      const rule = when[name]
      const fact = table[name]
      if (typeof fact !== 'number') return false
      if (typeof rule !== 'object') return rule === fact
      return !(fact < (rule.min ?? fact)) && fact < (rule.below ?? fact + 1)
    })
  const of = (wanted: Unit) => prices.filter((one) => one.unit === wanted).find(suits)
  const found = [unit, ...(STAND_INS[unit] ?? [])].map(of).find((one) => one !== undefined)
  const top = BigInt(all[unit] ?? 0) * (found?.amountNanos ?? 0n)
  return { top, bottom: BigInt(found?.per ?? 1) }
}

test('a charge is never below the exact price, and above it by less than a nano a line', () => {
  const property = fc.property(fc.array(entry), quantities, facts, (prices, all, known) => {
    fc.pre(inputTokens(all) < 2 ** 53)
    const { totalNanos, lines } = priceCharge(prices, all, known)
    let sum = 0n
    for (const line of lines) {
      const amount = parseAmount(line.amount)
      const { top, bottom } = exact(prices, line.unit, all, known)
      if (amount !== undefined) {
        assert.ok(amount * bottom >= top, 'below the exact price')
        assert.ok((amount - 1n) * bottom < top || amount === 0n, 'rounded more than once')
      }
      sum += top === 0n ? 0n : (top + bottom - 1n) / bottom
    }
    assert.equal(totalNanos, sum)
    const priced = UNITS.filter((unit) => (all[unit] ?? 0) > 0)
    assert.deepEqual(
      lines.map(({ unit }) => unit),
      priced,
    )
  })
  fc.assert(property, { numRuns: 100_000 })
})

test('no charge exceeds the bound of a quote that knew less', () => {
  const property = fc.property(
    fc.array(entry),
    quantities,
    facts,
    fc.tuple(fc.nat(), fc.nat()),
    fc.subarray(['a', 'b', 'c']),
    (prices, all, known, [first, second], told) => {
      const input = all.input_token ?? 0
      const cached = input === 0 ? 0 : first % (input + 1)
      const written = input === cached ? 0 : second % (input - cached + 1)
      const { cached_input_token: _c, cache_write_token: _w, ...quoted } = all
      const actual: Quantities = {
        ...quoted,
        input_token: input - cached - written,
        cached_input_token: cached,
        cache_write_token: written,
      }
      const some = Object.fromEntries(Object.entries(known).filter(([name]) => told.includes(name)))
      const bound = priceUpperBound(prices, quoted, some)
      assert.ok(priceCharge(prices, actual, known).totalNanos <= bound)
    },
  )
  fc.assert(property, { numRuns: 100_000 })
})
