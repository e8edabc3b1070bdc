/** Media are never generated for free because no price names the requested kind. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Facts, PriceEntry } from '../../server/money/catalog/catalog.ts'
import { countedQuantities } from '../../server/work/pipeline/hold/counted-quantities.ts'
import { computeCharge } from '../../server/work/pipeline/price/charge.ts'
import { refuseUnsold } from '../../server/work/pipeline/price/dimensions.ts'
import { preferRequested } from '../../server/work/pipeline/price/prefer-requested.ts'

const SIZES: readonly PriceEntry[] = [
  { unit: 'image', per: 1, amountNanos: 10n, when: { size: '1024x1024' } },
  { unit: 'image', per: 1, amountNanos: 40n, when: { size: ['2K', '2048x2048'] } },
]
const QUALITIES: readonly PriceEntry[] = [
  { unit: 'image', per: 1, amountNanos: 40n, when: { quality: 'high' } },
  { unit: 'image', per: 1, amountNanos: 10n },
]

function charge(prices: readonly PriceEntry[], facts: Facts) {
  return computeCharge({
    model: { type: 'image', free: false, prices, currency: 'USD' },
    facts,
    holdNanos: 25n,
    holdEstimate: {
      quantities: { image: 1 },
      alternatives: [{}],
      channels: [{}],
      ceiling: { inputTokens: 1_000, outputTokens: 1_000, others: 10 },
    },
    report: { outputBytes: 1, finished: true, usage: { image: 1, input_token: 7 } },
    complete: true,
    billsBroken: true,
    fallback: () => ({ image: 1 }),
  })
}

test('letter case and surrounding spaces of a value do not change its price', () => {
  assert.equal(charge(SIZES, { size: ' 2k ' }).nanos, 40n)
  assert.equal(charge(QUALITIES, { quality: 'HIGH' }).nanos, 40n)
})

test('a unit that is sold under other facts only is charged as the hold, and reviewed', () => {
  const odd = charge(SIZES, { size: '1536x1024' })
  assert.deepEqual([odd.nanos, odd.review], [25n, true])
  const known = charge(SIZES, { size: '1024x1024' })
  assert.deepEqual([known.nanos, known.review], [10n, false], 'tokens stay information')
})

test('a request without a price is refused with its field', () => {
  const model = { free: false, id: 'painter', prices: SIZES }
  for (const size of ['1536x1024', '1024/1024', 'huge']) {
    assert.throws(
      () => refuseUnsold(model, { image: 1 }, { size, style: 'vivid' }),
      /^GatewayError: size: '.+' is not sold with 'painter'/,
    )
  }
  for (const size of ['1024X1024', '1024*1024', '1024 × 1024']) {
    refuseUnsold(model, { image: 1 }, { size })
  }
  refuseUnsold(model, { image: 1 }, {})
  refuseUnsold({ ...model, free: true }, { image: 1 }, { size: 'huge' })
  refuseUnsold({ ...model, prices: QUALITIES }, { image: 1 }, { quality: 'odd' })
})

test('the generated kind decides if no price names the requested one', () => {
  const served = { quality: 'high', size: '2048x2048' }
  assert.equal(preferRequested(QUALITIES, { quality: 'hd' }, served).quality, 'high')
  assert.equal(preferRequested(QUALITIES, { quality: 'HIGH' }, { quality: 'low' }).quality, 'HIGH')
  assert.equal(preferRequested(SIZES, { size: '2K' }, served).size, '2048x2048')
  assert.equal(preferRequested(SIZES, {}, served).size, '2048x2048')
})

test('the size of the answer decides, unless it may be the requested one in other words', () => {
  const sizes: readonly (readonly [requested: string, served: string, charged: string])[] = [
    ['1024x1024', '2048x2048', '2048x2048'],
    ['2K', '1024x1024', '1024x1024'],
    ['2K', '2304x1728', '2K'],
    ['2K', '1920x1080', '2K'],
    ['2K', '1800x900', '1800x900'],
    ['2K', '2048x2100', '2K'],
    ['2k', '2848x1600', '2k'],
    ['2K', '4096x4096', '4096x4096'],
    ['1024x1024', '1032x1024', '1024x1024'],
    ['1024x1024', '4096x4096', '4096x4096'],
    ['1024x1024', '4096 * 4096', '4096 * 4096'],
    ['1024x1024', '1024x1024 4096x4096', '1024x1024 4096x4096'],
    ['1024x1024', 'large', '1024x1024'],
    ['huge', '4096x4096', '4096x4096'],
  ]
  for (const [size, served, charged] of sizes) {
    assert.equal(preferRequested(SIZES, { size }, { size: served }).size, charged, served)
  }
})

test('thousands of pixels a side are a size as well, where no price names what was served', () => {
  const small: PriceEntry = {
    unit: 'image',
    per: 1,
    amountNanos: 3n,
    when: { size: ['1K', '1024x1024'] },
  }
  const prices: readonly PriceEntry[] = [small, { unit: 'image', per: 1, amountNanos: 6n }]
  for (const [size, served, charged] of [
    ['1024x1024', '2K', '2K'],
    ['2048x256', '2K', '2K'],
    ['1K', '2k', '2k'],
    ['1K', '2048x2048', '2048x2048'],
    ['1K', '512x512', '1K'],
    ['1024x1024', '1K', '1K'],
  ] as const) {
    assert.equal(preferRequested(prices, { size }, { size: served }).size, charged, served)
  }
})

test('tokens that a model is not sold by are counted by no budget and no rate', () => {
  const estimate = { second: 5, input_token: 10, output_token: 90_000, image_output_token: 4_000 }
  const bySecond = { type: 'video', prices: [{ unit: 'second', per: 1, amountNanos: 1n }] } as const
  assert.deepEqual(countedQuantities(bySecond, estimate), { second: 5 })
  assert.deepEqual(countedQuantities({ ...bySecond, prices: [] }, estimate), { second: 5 })
  const byToken = [{ unit: 'output_token', per: 1, amountNanos: 1n }] as const
  assert.equal(countedQuantities({ ...bySecond, prices: byToken }, estimate), estimate)
  assert.equal(countedQuantities({ type: 'chat', prices: [] }, estimate), estimate)
})
