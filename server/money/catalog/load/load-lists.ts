/**
 * The prices that customers pay: the models of a price list. This is the only way from a customer
 * to prices, for calls, tasks, quotes and every view, so that all of them agree.
 */
import type { CatalogSnapshot, Model, Origin, StoredList } from '../catalog.ts'
import { type CompiledList, decidingVersion, type ListVersion, versionsOf } from '../list.ts'
import { readPrices } from './load-model.ts'

/** The members of a customer that decide which prices they pay. */
export interface Payer {
  readonly currency: string
  /** The own list of its account, or the one that the account has; null: the base prices. */
  readonly priceList: string | null
}

/** The catalog as customers of the lists in use see it, computed once for each snapshot. */
const known = new WeakMap<CatalogSnapshot, Map<string, CatalogSnapshot>>()

/**
 * Returns the catalog with the models that a customer can see, at the prices of their list;
 * undefined if this gateway has not loaded the list yet. Models sold in other currencies are among
 * them.
 */
export function soldTo(
  snapshot: CatalogSnapshot,
  { priceList }: Pick<Payer, 'priceList'>,
): CatalogSnapshot | undefined {
  if (priceList === null) return snapshot
  let lists = known.get(snapshot)
  if (!lists) {
    lists = new Map()
    known.set(snapshot, lists)
  }
  const found = lists.get(priceList)
  if (found) return found
  const stored = snapshot.lists.get(priceList)
  if (!stored) return undefined
  const parent = soldTo(snapshot, { priceList: stored.parent })
  const view = parent && { ...snapshot, models: loadList(stored, snapshot, parent.models) }
  if (view) lists.set(priceList, view)
  return view
}

function loadList(
  list: StoredList,
  snapshot: CatalogSnapshot,
  parent: CatalogSnapshot['models'],
): CatalogSnapshot['models'] {
  // Not cached: the resulting models are cached, and there are many lists in a running gateway.
  const compiled: CompiledList = JSON.parse(list.compiled)
  const models = new Map<string, Model>()
  for (const [id, base] of snapshot.models) {
    const own = decidingVersion(versionsOf(compiled, id), snapshot.pricedAtMs)
    const model = own ? priced(base, list, own, own.origin) : parent.get(id)
    if (model) models.set(id, model)
  }
  return models
}

/** For views, which ask for many models one by one. */
const compiledLists = new WeakMap<StoredList, CompiledList>()

function compiledOf(list: StoredList): CompiledList {
  const known = compiledLists.get(list)
  if (known) return known
  const compiled: CompiledList = JSON.parse(list.compiled)
  compiledLists.set(list, compiled)
  return compiled
}

/** Returns the lists that price a customer's calls, in the order in which they are asked. */
export function chainOf(snapshot: CatalogSnapshot, priceList: string | null): StoredList[] {
  const list = priceList === null ? undefined : snapshot.lists.get(priceList)
  return list ? [list, ...chainOf(snapshot, list.parent)] : []
}

/** Returns the list that hides a model from a customer, if one does. */
export function hiddenBy(
  snapshot: CatalogSnapshot,
  priceList: string | null,
  modelId: string,
): string | undefined {
  for (const list of chainOf(snapshot, priceList)) {
    const own = decidingVersion(versionsOf(compiledOf(list), modelId), snapshot.pricedAtMs)
    if (own) return own.prices ? undefined : list.id
  }
  return undefined
}

/** Returns the model at the prices of a list; undefined if the list hides it. */
function priced(
  base: Model,
  list: StoredList,
  own: ListVersion,
  origin: Origin,
): Model | undefined {
  if (!own.prices) return undefined
  const isComparable = !base.free && base.currency === list.currency
  return {
    ...base,
    free: false,
    currency: list.currency,
    prices: readPrices(own.prices, base.type),
    priceVersion: BigInt(own.version),
    plannedPrices: NO_PLANS,
    list: {
      id: list.id,
      origin,
      baseVersion: isComparable ? base.priceVersion : null,
      basePrices: isComparable ? base.prices : undefined,
    },
  }
}

const NO_PLANS: Model['plannedPrices'] = []
