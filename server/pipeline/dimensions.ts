/**
 * Price dimensions of a request: what a caller can ask for that makes a call dearer or cheaper.
 * What has no price at the model is refused before any money is held.
 */
import type { Facts } from '../catalog/catalog.ts'
import type { Unit } from '../lib/units.ts'

/** What a request asks for, as its dialect reads it. */
export interface AskedDimensions {
  /**
   * The facts under which the call may be served. The hold is taken at the dearest of them. The
   * first is what the caller asked for: it counts where the answer does not say how it was served.
   */
  readonly alternatives: readonly [Facts, ...Facts[]]
  /** What must have a price at the model. */
  readonly features: readonly AskedFeature[]
}

/** One field of a request that is sold only where it has a price. */
export interface AskedFeature {
  /** The field for the 400, for example `service_tier` or `tools[0].type`. */
  readonly field: string
  /** What the caller asked for, for the 400, for example `priority`. */
  readonly value: string
  /** The unit that must have a price. */
  readonly unit?: Unit
  /** The facts under which input and output must have a price. */
  readonly facts?: Facts
  /** The most of `unit` that the request allows, for the hold. */
  readonly quantity?: number
}
