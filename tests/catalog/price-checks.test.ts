/** Price lists that would sell something at the wrong price are refused with their path. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAmount } from '../../server/base/lib/money.ts'
import { TOKEN_UNITS } from '../../server/base/lib/units.ts'
import { CatalogError, parseCatalogFile } from '../../server/money/catalog/apply/file.ts'
import { planOf } from '../../server/money/catalog/apply/file-schema.ts'
import type { PriceEntry } from '../../server/money/catalog/catalog.ts'
import { findHidden } from '../../server/money/catalog/price/find-hidden.ts'
import { priceCharge } from '../../server/money/catalog/price/price.ts'
import { model } from './support.ts'

type Entry = { unit: string; per: number; amount: string; when?: object }

const entry = (unit: string, when?: object): Entry => ({
  unit,
  per: 1,
  amount: '1',
  ...(when ? { when } : {}),
})

function mistakes(prices: Entry[], change: object = {}): string[] {
  try {
    const text = JSON.stringify({ models: [model('a', { prices, ...change })] })
    parseCatalogFile('shop.json', text, {})
    return []
  } catch (error) {
    if (error instanceof CatalogError) return error.message.split('\n')
    throw error
  }
}

const base = [entry('input_token'), entry('cached_input_token'), entry('output_token')]
const fast = { service_tier: 'fast' }

test('a non-default way of being served needs a price for every token unit', () => {
  assert.deepEqual(mistakes([...base, entry('output_token', fast)]), [
    'shop.json: models[0].prices[3].when: output_token has a price at service_tier fast; ' +
      'so must input_token, cached_input_token',
  ])
  const both = base.map(({ unit }) => entry(unit, { service_tier: ['flex', 'fast'] }))
  assert.deepEqual(mistakes([...both, ...base]), [])
  assert.match(
    mistakes([...both.slice(1), entry('input_token', fast), ...base]).join(),
    /prices\[0\]\.when: cached_input_token has a price at service_tier flex; so must input_token$/,
  )
})

test('two facts together are a separate way', () => {
  const us = base.map(({ unit }) => entry(unit, { region: 'us' }))
  const quick = base.map(({ unit }) => entry(unit, { speed: 'fast', region: ['global', 'us'] }))
  assert.deepEqual(mistakes([...base, ...us, ...quick]), [])
  assert.match(
    mistakes([...base, ...us, ...quick.slice(1), entry('input_token', { speed: 'fast' })]).join(),
    /has a price at speed fast, region us; so must input_token$/,
  )
})

test('prices of other models and of tools need not cover every way', () => {
  const fees = [entry('web_search_call'), entry('web_search_call', { model: 'other' })]
  const passes = [
    entry('output_token', { model: 'other' }),
    entry('image_output_token', { model: 'other' }),
  ]
  assert.deepEqual(mistakes([...base, ...fees, ...passes]), [])
})

test('an entry after the base price is refused unless it names another way', () => {
  assert.deepEqual(mistakes([...base, ...base.map(({ unit }) => entry(unit, fast))]), [])
  const late = [entry('input_token', { service_tier: 'standard' })]
  assert.match(mistakes([...base, ...late]).join(), /prices\[3\]: never applies: prices\[0\] holds/)
  const fee = [entry('web_search_call'), entry('web_search_call', fast)]
  assert.match(mistakes([...base, ...fee]).join(), /prices\[4\]: never applies: prices\[3\] holds/)
})

const words: [string, object, RegExp][] = [
  [
    'service_tier',
    { service_tier: 'priority' },
    /service_tier: must be one of standard, flex, batch/,
  ],
  ['speed', { speed: ['fast', 'slow'] }, /speed: must be one of standard, fast, or a list/],
  ['clock', { clock: true }, /clock: must be one of peak, off_peak/],
  ['cache_mode', { cache_mode: 'x' }, /cache_mode: must be one of implicit, explicit/],
  ['thinking', { thinking: { min: 1 } }, /thinking: must be one of on, off/],
]
for (const [name, condition, expected] of words) {
  test(`refused: a word that ${name} does not have`, () => {
    const found = mistakes([entry('input_token', condition), ...base])
    assert.match(found.join('\n'), expected)
    assert.match(found.join('\n'), /models\[0\]\.prices\[0\]\.when\./)
  })
}

test('a price by the clock needs peak hours, also as a plan or a cost', () => {
  const when = { clock: 'off_peak' }
  const prices = [entry('input_token', when), ...base]
  const peak_hours = { time_zone: '+08:00', days: [1], hours: ['09:00-12:00'] }
  const missing = 'shop.json: models[0].details.peak_hours: '
  assert.match(mistakes(prices).join(), new RegExp(missing.replaceAll(/[[\].]/g, '\\$&')))
  assert.deepEqual(mistakes(prices, { details: { peak_hours } }), [])
  const plan = { effective_from: '2027-01-01T00:00:00Z', prices }
  assert.equal(mistakes(base, { planned_prices: [plan] }).length, 1)
  assert.equal(mistakes(base, { routes: [{ channel: 'm', costs: prices }] }).length, 1)
  assert.equal(planOf({ type: 'chat', details: {} }).safeParse(plan).success, false)
  assert.equal(planOf({ type: 'chat', details: { peak_hours } }).safeParse(plan).success, true)
})

test('vendor_cost needs other prices: holds are computed from them', () => {
  assert.match(mistakes([entry('vendor_cost')]).join(), /prices: vendor_cost needs other prices/)
  assert.deepEqual(mistakes([...base, entry('vendor_cost')]), [])
})

test('every token unit can be sold on a chat model, at its own price', () => {
  const units = TOKEN_UNITS
  assert.deepEqual(mistakes(units.map((unit) => entry(unit))), [])
  const prices = units.map((unit) => ({ unit, per: 1, amountNanos: parseAmount('2') ?? 0n }))
  const usage = Object.fromEntries(units.map((unit) => [unit, 1]))
  const { totalNanos, unpriced } = priceCharge(prices, usage, {})
  assert.equal(totalNanos, BigInt(units.length) * 2_000_000_000n)
  assert.deepEqual(unpriced, [])
})

test('a price is hidden by an earlier one that holds for all of its calls', () => {
  const hidden = (...whens: PriceEntry['when'][]) =>
    findHidden(whens.map((when) => ({ unit: 'output_token', when })))
  const found = [{ index: 1, by: 0 }]
  const long = { input_tokens: { min: 128_000 } }
  for (const [wide, narrow] of [
    [long, long],
    [{ input_tokens: { min: 0 } }, long],
    [{ size: ['1K', '2K'] }, { size: '2k' }],
    [{ size: ['1K', '2K'] }, { size: ['2K', '1K'], quality: 'high' }],
    [{ speed: ['standard', 'fast'] }, { speed: 'fast', ...long }],
    [{ seconds: { below: 10 } }, { seconds: 5 }],
  ] as const) {
    assert.deepEqual(hidden(wide, narrow), found, JSON.stringify([wide, narrow]))
  }
  for (const [first, second] of [
    [long, { input_tokens: { min: 32_000 } }],
    [{ ...long, size: '1K' }, long],
    [{ size: ['1K', '2K'] }, { size: ['2K', '4K'] }],
    [{ size: '1K' }, { quality: 'high' }],
    [{ input_tokens: 5 }, { input_tokens: { min: 5, below: 6 } }],
    [long, { ...long, speed: 'fast' }],
    [long, { ...long, model: 'other' }],
  ] as const) {
    assert.deepEqual(hidden(first, second), [], JSON.stringify([first, second]))
  }
})
