/** Worked examples of vendors' bills: what was requested and served, the answer, and every line. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../server/base/lib/json.ts'
import type { Quantities, Unit } from '../../server/base/lib/units.ts'
import { parseCatalogFile } from '../../server/money/catalog/apply/file.ts'
import type { Facts, ModelType, PriceEntry } from '../../server/money/catalog/catalog.ts'
import { readPrices } from '../../server/money/catalog/load/load-model.ts'
import { clockFacts } from '../../server/money/catalog/price/clock.ts'
import type { PricedPass } from '../../server/money/catalog/price/price.ts'
import type { StoredPrice } from '../../server/money/catalog/store.ts'

export interface PriceVector {
  readonly n: number
  readonly title: string
  readonly currency: string
  /** A file of the catalog and a model of it, or else prices of the example's own. */
  readonly file?: string
  readonly model?: string
  readonly prices?: readonly StoredPrice[]
  readonly dialect?: 'chat' | 'responses' | 'messages' | 'embeddings' | 'transcription' | 'images'
  /** Members of the vendor's answer, or the events of its stream. */
  readonly wire?: JsonObject
  readonly events?: readonly JsonObject[]
  /** When the call arrived. */
  readonly at?: string
  readonly channel?: Facts
  readonly requested?: Facts
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

const TESTS = join(import.meta.dirname, '..')

export const PRICE_VECTORS: readonly PriceVector[] = JSON.parse(
  readFileSync(join(TESTS, 'catalog/fixtures/price-vectors.json'), 'utf8'),
)

interface Sold {
  readonly type: ModelType
  readonly prices: readonly PriceEntry[]
  /** What was known before the answer came. */
  readonly requested: Facts
}

/** What the example's model is sold for at the hour of the example. */
export function findSold({ file, model: id, prices, currency, at, requested }: PriceVector): Sold {
  if (!file) return { type: 'chat', prices: readPrices(prices ?? []), requested: requested ?? {} }
  const path = join(TESTS, '../catalog', file)
  const { content } = parseCatalogFile(file, readFileSync(path, 'utf8'), {})
  assert.equal(content.currency, currency)
  const model = content.models.find((one) => one.id === id) ?? assert.fail(`no ${id}`)
  const begun = (model.planned_prices ?? []).filter(
    ({ effective_from: from }) => at && Date.parse(from) <= Date.parse(at),
  )
  const list = JSON.parse(JSON.stringify(begun.at(-1)?.prices ?? model.prices))
  const hour = at ? clockFacts(model, new Date(at)).onArrival : {}
  return {
    type: model.type,
    prices: readPrices(list, model.type),
    requested: { ...hour, ...requested },
  }
}
