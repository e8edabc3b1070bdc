/**
 * The types of the catalog: models with their prices, routes and limits, and channels. The pipeline
 * works on an immutable snapshot, so a catalog change never affects a call in progress.
 */
import type { CallLimits } from '../../base/lib/kinds-and-states.ts'
import type { Nanos } from '../../base/lib/money.ts'
import type { TokenIssuer } from '../../base/lib/token-issuer.ts'
import type { Unit } from '../../base/lib/units.ts'
import type { ModelType } from './model-types.ts'

export { MODEL_TYPES, type ModelType } from './model-types.ts'

/**
 * The facts that `when` conditions are compared with, for example `{ resolution: '720p', audio:
 * true }`.
 */
export type Facts = Readonly<Record<string, string | number | boolean>>

/**
 * A plain value must equal the fact, a list must contain it, and a range holds for `min` ≤ fact <
 * `below`.
 */
export type Condition =
  | string
  | number
  | boolean
  | readonly (string | number | boolean)[]
  | { readonly min?: number; readonly below?: number }

export interface PriceEntry {
  readonly unit: Unit
  /** The number of units that the amount buys, for example 1,000,000 tokens. */
  readonly per: number
  readonly amountNanos: Nanos
  /** All conditions must hold. The first entry of a unit that applies is its price. */
  readonly when?: Readonly<Record<string, Condition>>
}

/** The upstream cost of calls by one route; computed like a price. */
export interface RouteCost {
  readonly version: bigint
  readonly currency: string
  readonly entries: readonly PriceEntry[]
}

/** Prices that take effect at a future time. */
export interface PlannedPrice {
  readonly version: bigint
  readonly effectiveFrom: Date
  readonly currency: string
  readonly prices: readonly PriceEntry[]
}

export interface Route {
  readonly channel: string
  readonly upstreamModel: string
  /** Routes with a lower value are tried first. */
  readonly priority: number
  /** Share of the calls among routes of the same priority. */
  readonly weight: number
  /** Absent if the upstream cost is unknown. */
  readonly cost?: RouteCost
  /**
   * The cost of a typical call, in nano-units, for a model whose cheapest route is tried first;
   * null: unknown.
   */
  readonly expectedCost?: bigint | null
}

/** Another model that may serve a model's calls, at its own price. */
export interface Fallback {
  readonly model: string
  readonly priority: number
}

/** Limits of a model; an absent member means no limit. */
export interface ModelLimits extends CallLimits {
  /** Upper bound of the output, for the hold of a call that sets no limit itself. */
  readonly max_output_tokens?: number
  readonly max_input_tokens?: number
  readonly first_byte_timeout_ms?: number
  readonly idle_timeout_ms?: number
  /** The longest that a complete response or stream may take. */
  readonly total_timeout_ms?: number
}

/** The source of the prices of a list's version. */
export type Origin =
  | { readonly of: 'parent'; readonly factor: string; readonly from_version: string }
  | { readonly of: 'cost'; readonly factor: string; readonly cost_versions: readonly string[] }
  | { readonly prices: true }
  | { readonly hidden: true }

/** An origin, or a marker that the parent prices the model from then on. */
export type OriginOrNone = Origin | { readonly inherit: true }

/** The list of a price, and the base price for the same. */
export interface ListedPrice {
  readonly id: string
  readonly origin: Origin
  /** Null for a model that is free, or sold in another currency, on the base list. */
  readonly baseVersion: bigint | null
  /** Absent where the base list has another currency. */
  readonly basePrices: readonly PriceEntry[] | undefined
}

export interface Model {
  readonly id: string
  readonly type: ModelType
  readonly free: boolean
  /** Refuses tools of the vendor's without a price even if a request only offers them. */
  readonly unpricedTools?: 'refuse'
  readonly limits: ModelLimits
  readonly routes: readonly Route[]
  /** Models tried after the routes, in this order. */
  readonly fallbacks?: readonly Fallback[]
  readonly prices: readonly PriceEntry[]
  readonly priceVersion: bigint | null
  readonly currency: string
  /** The price list that the prices are of; absent for the base prices. */
  readonly list?: ListedPrice
  /** Prices that are not yet in effect, ordered by their start. */
  readonly plannedPrices: readonly PlannedPrice[]
  readonly details: Readonly<Record<string, unknown>>
  readonly updatedAt: Date
}

/** Returns true if accounts of the currency can call the model. */
export function isSoldIn(model: Pick<Model, 'free' | 'currency'>, currency: string): boolean {
  return model.free || model.currency === currency
}

export interface Channel {
  readonly id: string
  /** The name of the upstream protocol, a key of upstreams/index.ts. */
  readonly upstream: string
  readonly version: number
  /** An operator paused it: it gets no new calls and tasks. */
  readonly isPaused?: boolean
  /** The last time that an operator ended its cooldowns. */
  readonly wokenAt?: Date | null
  /** The number of this key and the id of its channel; absent for the first or only key. */
  readonly key?: { readonly number: number; readonly channel: string }
  /** The ids of all keys of the channel, itself first; absent if it has one. */
  readonly keyIds?: readonly string[]
  /** Parsed by the upstream's own schema, secrets decrypted and `env:` resolved. */
  readonly settings: unknown
}

/** A price list as it is stored: it is parsed when a customer of the list first calls. */
export interface StoredList {
  readonly id: string
  readonly currency: string
  /** Null: the base prices. */
  readonly parent: string | null
  /** JSON: a CompiledList. */
  readonly compiled: string
  /** Milliseconds since 1970 at which its prices change. */
  readonly moments: readonly number[]
}

export interface CatalogSnapshot {
  readonly revision: bigint
  /** The time at which these prices apply, by the database's clock. */
  readonly pricedAtMs: number
  readonly lists: ReadonlyMap<string, StoredList>
  readonly issuers: readonly TokenIssuer[]
  readonly models: ReadonlyMap<string, Model>
  readonly channels: ReadonlyMap<string, Channel>
}
