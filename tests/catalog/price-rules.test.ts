/**
 * Prices compared with a second implementation of their rules, in exact fractions and by brute
 * force, over random price lists.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseAmount } from '../../server/base/lib/money.ts'
import { type Quantities, UNITS, type Unit } from '../../server/base/lib/units.ts'
import type { Condition, Facts, PriceEntry } from '../../server/money/catalog/catalog.ts'
import {
  explainUpperBound,
  isPriced,
  priceCharge,
  priceUpperBound,
} from '../../server/money/catalog/price/price.ts'

// The rules, without the engine. ---------------------------------------------------------------

/** The units whose price applies to a unit without one, in order. */
const STAND_INS: Partial<Record<Unit, readonly Unit[]>> = {
  cached_input_token: ['input_token'],
  cache_write_token: ['input_token'],
  cache_write_5m_token: ['cache_write_token', 'input_token'],
  cached_audio_input_token: ['audio_input_token'],
  image_input_token: ['input_token'],
  cached_image_input_token: ['cached_input_token', 'input_token'],
  video_input_token: ['input_token'],
}
const USUAL: Facts = { service_tier: 'standard', speed: 'standard', region: 'global' }

const IN = UNITS.filter((unit) => unit.endsWith('input_token') || unit.startsWith('cache_write'))
const OUT = UNITS.filter((unit) => unit.endsWith('output_token'))
const TOKENS: ReadonlySet<Unit> = new Set([...IN, ...OUT])
const count = (all: Quantities, units: readonly Unit[]) =>
  units.reduce((sum, unit) => sum + (all[unit] ?? 0), 0)

type Table = Readonly<Record<string, string | number | boolean>>

/** Returns the facts of a call, and those that differ from their defaults. */
function readFacts(
  prices: readonly PriceEntry[],
  all: Quantities,
  requested: Facts,
  channel: Facts,
): { readonly table: Table; readonly odd: readonly string[] } {
  const merged = { ...channel, ...requested }
  const table: Table = {
    ...USUAL,
    input_tokens: count(all, IN),
    output_tokens: count(all, OUT),
    ...merged,
    ...(merged.service_tier === 'default' ? { service_tier: 'standard' } : {}),
  }
  const isNamed = (name: string) => prices.some(({ when = {} }) => Object.hasOwn(when, name))
  const odd = ['service_tier', 'speed', 'region', 'model'].filter((name) => {
    const isChannels = Object.hasOwn(channel, name) && table[name] === channel[name]
    return table[name] !== USUAL[name] && (name === 'model' || isNamed(name) || !isChannels)
  })
  return { table, odd }
}

/** Finds the exact price of a unit as an entry, straight from the rules. */
function readPrices(
  prices: readonly PriceEntry[],
  all: Quantities,
  requested: Facts,
  channel: Facts,
): (unit: Unit) => PriceEntry | undefined {
  const { table, odd } = readFacts(prices, all, requested, channel)
  const suits = ({ unit: priced, when = {} }: PriceEntry) =>
    odd.every((name) => name in when || (name !== 'model' && !TOKENS.has(priced))) &&
    Object.entries(when).every(([name, rule]) => {
      const fact = table[name]
      if (Array.isArray(rule)) return rule.includes(fact)
      if (typeof rule !== 'object' || !('min' in rule || 'below' in rule)) return rule === fact
      if (typeof fact !== 'number') return false
      return !(fact < (rule.min ?? fact)) && fact < (rule.below ?? fact + 1)
    })
  const find = (unit: Unit) => prices.find((one) => one.unit === unit && suits(one))
  return (unit) => {
    for (const one of [unit, ...(STAND_INS[unit] ?? [])]) {
      const found = find(one)
      if (found) return found
    }
    return undefined
  }
}

/** Returns the price of quantities in nanos, each unit rounded up. */
function worth(prices: readonly PriceEntry[], all: Quantities, requested: Facts, channel: Facts) {
  const priceOf = readPrices(prices, all, requested, channel)
  let sum = 0n
  for (const unit of UNITS.filter((one) => all[one])) {
    const found = priceOf(unit)
    const top = BigInt(all[unit] ?? 0) * (found?.amountNanos ?? 0n)
    const bottom = BigInt(found?.per ?? 1)
    sum += top / bottom + (top % bottom > 0n ? 1n : 0n)
  }
  return sum
}

// Arbitrary lists, calls and answers. ----------------------------------------------------------

const TIERS = ['standard', 'fast', 'flex', 'odd']
const anyOf: Record<string, fc.Arbitrary<string | number>> = {
  service_tier: fc.constantFrom(...TIERS, 'default'),
  speed: fc.constantFrom('standard', 'fast'),
  region: fc.constantFrom('global', 'us'),
  clock: fc.constantFrom('peak', 'off_peak'),
  a: fc.integer({ min: 0, max: 4 }),
}
const someFacts = (...names: string[]): fc.Arbitrary<Facts> =>
  fc.record(Object.fromEntries(names.map((name) => [name, anyOf[name] ?? fc.constant(0)])), {
    requiredKeys: [],
    noNullPrototype: true,
  }) as fc.Arbitrary<Facts>
const strictFacts = someFacts('service_tier', 'speed', 'region')
const channelFacts = someFacts('service_tier', 'region')
const openFacts = someFacts('clock', 'a')

const range: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ min: fc.integer({ min: 0, max: 2 }), below: fc.integer({ min: 3, max: 5 }) }),
  fc.record({ min: fc.integer({ min: 0, max: 9 }) }),
  fc.record({ below: fc.integer({ min: 0, max: 9 }) }),
)
const oneOrList = (value: fc.Arbitrary<string | number>): fc.Arbitrary<Condition> =>
  fc.oneof(value, fc.array(value, { minLength: 1, maxLength: 3 }))
const CONDITIONS: Readonly<Record<string, fc.Arbitrary<Condition>>> = {
  service_tier: oneOrList(fc.constantFrom(...TIERS)),
  speed: oneOrList(fc.constantFrom('standard', 'fast')),
  region: oneOrList(fc.constantFrom('global', 'us')),
  model: oneOrList(fc.constantFrom('m', 'n')),
  clock: oneOrList(fc.constantFrom('peak', 'off_peak')),
  a: fc.oneof(range, oneOrList(fc.integer({ min: 0, max: 4 }))),
  input_tokens: fc.oneof(range, oneOrList(fc.integer({ min: 0, max: 4 }))),
  output_tokens: range,
}
const condition = fc.oneof(
  ...Object.entries(CONDITIONS).map(([name, rule]) => rule.map((one) => [name, one] as const)),
)
/** Few conditions per entry, or hardly any entry would apply. */
const when: fc.Arbitrary<Record<string, Condition>> = fc
  .array(condition, { maxLength: 2 })
  .map((few) => Object.fromEntries(few))

const QUOTED: readonly Unit[] = [
  'input_token',
  'cache_write_1h_token',
  'audio_input_token',
  'image_input_token',
  'output_token',
  'audio_output_token',
  'web_search_call',
  'image',
]
const SEEN: readonly Unit[] = [
  ...QUOTED,
  'cached_input_token',
  'cache_write_token',
  'cache_write_5m_token',
  'cached_audio_input_token',
  'cached_image_input_token',
  'image_output_token',
]
const entry = (units: readonly Unit[]): fc.Arbitrary<PriceEntry> =>
  fc.record(
    {
      unit: fc.constantFrom(...units),
      per: fc.constantFrom(1, 3, 1000, 1_000_000),
      amountNanos: fc.bigInt({ min: 0n, max: 10n ** 13n }),
      when,
    },
    { requiredKeys: ['unit', 'per', 'amountNanos'] },
  )
const list = fc.array(entry(SEEN), { maxLength: 14 })
const quantitiesOf = (units: readonly Unit[]) =>
  fc.dictionary(fc.constantFrom(...units), fc.oneof(fc.integer({ min: 0, max: 6 }), fc.nat()), {
    noNullPrototype: true,
  }) as fc.Arbitrary<Quantities>

test('a charge follows the rules, line by line', () => {
  const pass = fc.record({
    model: fc.constantFrom('m', 'n'),
    role: fc.constant('advisor'),
    usage: quantitiesOf(UNITS.filter((unit) => unit !== 'vendor_cost')),
  })
  const property = fc.property(
    fc.array(entry(UNITS.filter((unit) => unit !== 'vendor_cost')), { maxLength: 20 }),
    quantitiesOf(UNITS.filter((unit) => unit !== 'vendor_cost')),
    fc.tuple(strictFacts, openFacts),
    channelFacts,
    fc.array(pass, { maxLength: 2 }),
    (prices, all, [strict, open], channel, passes) => {
      const facts = { ...strict, ...open }
      const { totalNanos, lines, unpriced } = priceCharge(prices, all, facts, channel, passes)
      const parts = [
        { usage: all, facts },
        ...passes.map(({ model, usage }) => ({ usage, facts: { ...facts, model } })),
      ]
      const expected = parts.map(({ usage, facts: known }) => worth(prices, usage, known, channel))
      assert.equal(
        totalNanos,
        expected.reduce((sum, one) => sum + one, 0n),
      )
      const amounts = lines.map(({ amount }) => parseAmount(amount) ?? 0n)
      assert.equal(
        totalNanos < 10n ** 18n ? amounts.reduce((sum, one) => sum + one, 0n) : totalNanos,
        totalNanos,
      )
      const none = parts.flatMap(({ usage, facts: known }) => {
        const priceOf = readPrices(prices, usage, known, channel)
        return UNITS.filter((unit) => usage[unit] && !priceOf(unit))
      })
      assert.deepEqual(new Set(unpriced), new Set(none))
      assert.equal(
        lines.length,
        parts.reduce((sum, { usage }) => sum + UNITS.filter((unit) => usage[unit]).length, 0),
      )
    },
  )
  fc.assert(property, { numRuns: 6_000 })
})

/** The units as which an upstream may report a quantity that was quoted in one unit. */
const TEXT: readonly Unit[] = [
  'input_token',
  'cached_input_token',
  'cache_write_token',
  'cache_write_5m_token',
]
const TURNS_OUT: Partial<Record<Unit, readonly Unit[]>> = {
  input_token: TEXT,
  cache_write_1h_token: [...TEXT, 'cache_write_1h_token'],
  audio_input_token: [...TEXT, 'audio_input_token', 'cached_audio_input_token'],
  image_input_token: [...TEXT, 'image_input_token', 'cached_image_input_token'],
  audio_output_token: ['output_token', 'audio_output_token'],
}

/** Splits a quantity over units at random, dropping a part of it. */
function scatter(quoted: Quantities, dice: readonly number[]): Quantities {
  const actual: Partial<Record<Unit, number>> = {}
  let at = 0
  for (const [unit, quantity] of Object.entries(quoted) as [Unit, number][]) {
    let remaining = quantity
    for (const possible of TURNS_OUT[unit] ?? [unit]) {
      const die = dice[at++ % dice.length] ?? 0
      const part = die % 4 === 0 ? remaining : die % 4 === 1 ? 0 : die % (remaining + 1)
      actual[possible] = (actual[possible] ?? 0) + part
      remaining -= part
    }
  }
  return actual
}

test('no charge exceeds the upper bound over the ways in which it may be served', () => {
  const property = fc.property(
    list,
    quantitiesOf(QUOTED),
    fc.array(fc.tuple(strictFacts, openFacts), { minLength: 1, maxLength: 3 }),
    fc.array(channelFacts, { minLength: 1, maxLength: 2 }),
    openFacts,
    fc.array(fc.nat(), { minLength: 3, maxLength: 40 }),
    fc.nat(),
    (prices, quoted, ways, channels, later, dice, pick) => {
      const alternatives = ways.map(([strict, open]) => ({ ...strict, ...open }))
      const bound = priceUpperBound(prices, quoted, alternatives, channels)
      const chosen = alternatives[pick % alternatives.length]
      const channel = channels[pick % channels.length]
      const actual = scatter(quoted, dice)
      const charged = priceCharge(prices, actual, { ...later, ...chosen }, channel)
      // Several parts of a unit are rounded once, which only lowers the charge.
      assert.ok(charged.totalNanos <= bound, `${charged.totalNanos} above ${bound}`)
      assert.equal(explainUpperBound(prices, quoted, alternatives, channels).totalNanos, bound)
      for (const unit of UNITS.filter((one) => actual[one])) {
        if (charged.unpriced.includes(unit)) continue
        assert.ok(isPriced(prices, unit, { ...chosen }, channel), `${unit} was priced after all`)
      }
    },
  )
  fc.assert(property, { numRuns: 8_000 })
})
