/** Finds the price of one unit in the price book of a model's vendor. */
import { isDeepStrictEqual } from 'node:util'
import type { StoredRoute } from '../store.ts'
import type { CatalogFile } from './file-schema.ts'
import type { Vendor } from './vendors.ts'

export interface ListPrices {
  /** The vendor's display name. */
  readonly vendor: string
  readonly currency: string
  /** All prices of the unit, with and without conditions. */
  readonly prices: CatalogFile['models'][number]['prices']
}

interface RoutedChannel {
  readonly upstream: string
  /** The stored settings. */
  readonly settings: object
}

/**
 * Returns the list prices of a unit at the vendor of the first route whose vendor has some: those
 * of the same model, or else those of every other model of this vendor, if they agree.
 */
export function findListPrices(
  routes: readonly Pick<StoredRoute, 'channel' | 'upstream_model'>[],
  channels: ReadonlyMap<string, RoutedChannel>,
  unit: string,
  vendors: readonly Vendor[],
): ListPrices | undefined {
  for (const route of routes) {
    const channel = channels.get(route.channel)
    const vendor = channel && findVendorOf(channel, vendors)
    if (!vendor) continue
    const prices = findPrices(vendor, route.upstream_model, unit)
    const { name, content } = vendor
    if (prices) return { vendor: content.vendor?.name ?? name, currency: content.currency, prices }
  }
  return undefined
}

/** Returns the vendor whose channels have the same protocol and host. */
function findVendorOf(channel: RoutedChannel, vendors: readonly Vendor[]): Vendor | undefined {
  const host = hostOf(channel)
  return vendors.find(({ content }) => {
    return content.channels.some((preset) => {
      return preset.upstream === channel.upstream && hostOf(preset) === host
    })
  })
}

/** Returns undefined for a channel at the default address of its protocol. */
function hostOf({ settings }: Pick<RoutedChannel, 'settings'>): string | undefined {
  const url = 'base_url' in settings ? settings.base_url : undefined
  if (typeof url !== 'string') return undefined
  return URL.canParse(url) ? new URL(url).host : url
}

function findPrices({ content }: Vendor, model: string, unit: string) {
  const lists = content.models.flatMap(({ prices, routes }) => {
    const own = prices.filter((price) => price.unit === unit)
    return own.length === 0 ? [] : [{ prices: own, isSame: isRouted(routes, model) }]
  })
  const [first] = lists
  const same = lists.find(({ isSame }) => isSame)
  if (same) return same.prices
  const agree = lists.every(({ prices }) => isDeepStrictEqual(prices, first?.prices))
  return agree ? first?.prices : undefined
}

function isRouted(routes: readonly object[], model: string): boolean {
  return routes.some((route) => 'upstream_model' in route && route.upstream_model === model)
}
