/**
 * Sixty worked examples of vendors' bills, to the nano: prices of the shipped catalogs or of the
 * example, what was asked and served, the hour, and the lines that a record must show.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Facts, ModelType } from '../../server/catalog/catalog.ts'
import { clockFacts } from '../../server/catalog/clock.ts'
import { parseCatalogFile } from '../../server/catalog/file.ts'
import { readPrices } from '../../server/catalog/load-model.ts'
import { type PricedPass, priceCharge, priceUpperBound } from '../../server/catalog/price.ts'
import type { StoredPrice } from '../../server/catalog/store.ts'
import { parseAmount } from '../../server/lib/money.ts'
import type { Quantities, Unit } from '../../server/lib/units.ts'

interface Vector {
  readonly n: number
  readonly title: string
  readonly currency: string
  /** A file of the catalog and a model of it, or else prices of the example's own. */
  readonly file?: string
  readonly model?: string
  readonly prices?: readonly StoredPrice[]
  /** When the call arrived. */
  readonly at?: string
  readonly channel?: Facts
  readonly asked?: Facts
  readonly served?: Facts
  readonly usage: Quantities
  readonly passes?: readonly PricedPass[]
  readonly lines: readonly {
    readonly unit: Unit
    readonly quantity: number
    readonly amount: string
    readonly per: number
    readonly nanos: number
    readonly model?: string
    readonly role?: string
  }[]
  readonly total_nanos: number
}

const vectors: Vector[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'fixtures/price-vectors.json'), 'utf8'),
)

interface Priced {
  readonly type: ModelType
  readonly prices: readonly StoredPrice[]
  readonly details: Readonly<Record<string, unknown>>
}

function find({ file, model: id, prices, currency, at }: Vector): Priced {
  if (!file) return { type: 'chat', prices: prices ?? [], details: {} }
  const path = join(import.meta.dirname, '../../catalog', file)
  const { content } = parseCatalogFile(file, readFileSync(path, 'utf8'), {})
  assert.equal(content.currency, currency)
  const model = content.models.find((one) => one.id === id) ?? assert.fail(`no ${id}`)
  const begun = (model.planned_prices ?? []).filter(
    ({ effective_from }) => at && Date.parse(effective_from) <= Date.parse(at),
  )
  const list = begun.at(-1)?.prices ?? model.prices
  return { type: model.type, prices: JSON.parse(JSON.stringify(list)), details: model.details }
}

for (const vector of vectors) {
  const { n, title, at, channel = {}, asked = {}, served = {}, usage, passes = [] } = vector
  test(`${n}. ${vector.model ?? 'own prices'}: ${title}`, () => {
    const { type, prices: stored, details } = find(vector)
    const prices = readPrices(stored, type)
    const clock = at ? clockFacts({ details }, new Date(at)).asked : {}
    const facts = { ...clock, ...asked, ...served }
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
      const { unitPrice = '', per: sold = 0 } = found[index] ?? {}
      assert.equal(nanosOf(amount) * BigInt(sold), nanosOf(unitPrice) * BigInt(per))
    }
    if (vector.lines.some(({ unit }) => unit === 'vendor_cost')) return
    const own = priceCharge(prices, usage, facts, channel).totalNanos
    assert.ok(own <= priceUpperBound(prices, usage, [facts], [channel]))
  })
}

const nanosOf = (text: string) => parseAmount(text) ?? assert.fail(`not an amount: ${text}`)

test('all sixty are here', () => {
  assert.deepEqual(
    vectors.map(({ n }) => n),
    Array.from({ length: 60 }, (_, index) => index + 1),
  )
})
