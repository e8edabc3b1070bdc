/**
 * Sixty worked examples of vendors' bills, to the nano: the prices (of the shipped catalogs or of
 * the example), the requested and served facts, the hour, and the expected lines of the record.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAmount } from '../../server/base/lib/money.ts'
import { priceCharge, priceUpperBound } from '../../server/money/catalog/price/price.ts'
import { findSold, PRICE_VECTORS } from '../support/price-vectors.ts'

for (const vector of PRICE_VECTORS) {
  const { n, title, channel = {}, served, usage, passes = [] } = vector
  test(`${n}. ${vector.model ?? 'own prices'}: ${title}`, () => {
    const { type, prices, requested } = findSold(vector)
    const facts = { ...requested, ...served }
    const { totalNanos, lines, unpriced } = priceCharge(prices, usage, facts, channel, passes)
    assert.equal(totalNanos, BigInt(vector.total_nanos))
    if (type === 'chat') assert.deepEqual(unpriced, [])
    const found = lines.filter(({ amount }) => amount !== '0')
    assert.deepEqual(
      found.map(({ unit, quantity, amount, model, role }) => {
        return { unit, quantity, nanos: parseAmount(amount), model, role }
      }),
      vector.lines.map(({ unit, quantity, nanos, model, role }) => {
        return { unit, quantity, nanos: BigInt(nanos), model, role }
      }),
    )
    for (const [index, { amount, per }] of vector.lines.entries()) {
      const { unit_price: unitPrice = '', per: sold = 0 } = found[index] ?? {}
      assert.equal(nanosOf(amount) * BigInt(sold), nanosOf(unitPrice) * BigInt(per))
    }
    if (vector.lines.some(({ unit }) => unit === 'vendor_cost')) return
    const own = priceCharge(prices, usage, facts, channel).totalNanos
    assert.ok(own <= priceUpperBound(prices, usage, [facts], [channel]))
  })
}

const nanosOf = (text: string) => parseAmount(text) ?? assert.fail(`not an amount: ${text}`)

test('there are sixty examples', () => {
  assert.deepEqual(
    PRICE_VECTORS.map(({ n }) => n),
    Array.from({ length: 60 }, (_, index) => index + 1),
  )
})
