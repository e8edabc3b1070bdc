/** Computes the charge of a finished task at the price version of its hold. */

import {
  INPUT_UNITS,
  OUTPUT_UNITS,
  type Quantities,
  sumOf,
  UNITS,
  type Unit,
} from '../../../base/lib/units.ts'
import type { Facts, ModelType, PriceEntry } from '../../../money/catalog/catalog.ts'
import { readPrices } from '../../../money/catalog/load/load-model.ts'
import { priceCharge } from '../../../money/catalog/price/price.ts'
import type { StoredPrice } from '../../../money/catalog/store.ts'
import { IMAGES_STATED_MAX } from '../../../wire/dialects/images/read-request.ts'
import type { TaskPoll } from '../../../wire/upstreams/task-driver.ts'
import { type Ceiling, onlyStated, withoutZeros } from '../../pipeline/price/ceiling.ts'
import { type Charge, computeCharge, NO_CHARGE } from '../../pipeline/price/charge.ts'
import type { HoldEstimate } from '../../pipeline/price/hold-estimate.ts'
import { withListAmounts } from '../../pipeline/price/list-amount.ts'
import { plausibleCost, type UpstreamCost } from '../../pipeline/price/upstream-cost.ts'
import type { ClaimedTask } from '../task.ts'

export type TaskEnding = Extract<TaskPoll, { state: 'succeeded' | 'failed' }>
type Succeeded = Extract<TaskEnding, { state: 'succeeded' }>

export interface TaskCharge extends Omit<Charge, 'basis'> {
  readonly basis: Charge['basis'] | 'params'
  /** The upstream cost; null when unknown. */
  readonly cost: UpstreamCost | null
}

/** Units of which every task has exactly one, even if its upstream states another number. */
const ONCE: Quantities = { task: 1, call: 1 }
/** Used if a vendor states no searches: the hold covers them, but they are never estimated. */
const UNLESS_STATED: Quantities = { ...ONCE, web_search_call: 0 }

/** Returns the charge: by stated usage, else by measured and estimated quantities. */
export function chargeTask(task: ClaimedTask, polled: TaskEnding): TaskCharge {
  if (polled.state === 'failed') return { ...NO_CHARGE, cost: upstreamCostOf(task, {}, {}) }
  const ending = inOwnCurrency(task, polled)
  const prices = readPrices(isStored(task.prices) ? task.prices : [], task.kind)
  const isFree = task.prices === null
  const units = isFree ? UNITS : [...new Set(prices.map(({ unit }) => unit))]
  const priced = units.filter(
    (unit) => task.quantities[unit] !== undefined || ending.usage?.[unit] !== undefined,
  )
  const usage: Quantities = { ...UNLESS_STATED, ...readUsage(task, ending, priced) }
  const isStated = priced.every((unit) => usage[unit] !== undefined)
  const stated = isStated || !isFree ? { usage: pick(usage, priced) } : {}
  const fallback = { ...task.quantities, ...readMeasured(task, ending), ...usage }
  const facts = { ...task.facts, ...ending.facts }
  const { unknownUsage = [] } = ending
  const charge = computeCharge({
    model: { type: typeOf(task), free: isFree, prices, currency: '' },
    facts,
    channelFacts: facts,
    holdNanos: task.hold_amount,
    holdEstimate: heldFor(task),
    report: { outputBytes: 1, finished: true, unknownUsage, ...stated },
    complete: true,
    billsBroken: false,
    ...(isFree ? {} : { needs: priced }),
    fallback: () => pick(fallback, priced),
  })
  const served = { facts, channelFacts: facts }
  return {
    ...withListAmounts(charge, basePricesOf(task, task.kind), served),
    basis: charge.basis === 'estimate' ? 'params' : charge.basis,
    cost: charge.review ? null : upstreamCostOf(task, fallback, facts),
  }
}

/** Drops a cost in a currency other than the model's: the order is charged instead. */
function inOwnCurrency({ currency }: ClaimedTask, ending: Succeeded): Succeeded {
  const { usage, costCurrency } = ending
  const isOther = costCurrency !== undefined && currency !== null && costCurrency !== currency
  if (!isOther || usage?.vendor_cost === undefined) return ending
  const { vendor_cost: _other, ...others } = usage
  return { ...ending, usage: others }
}

/**
 * If every ordered quantity is stated as zero, the usage counts as not stated, except for minutes,
 * since silence has no words.
 */
function readUsage(
  { kind, quantities }: ClaimedTask,
  { usage = {} }: Succeeded,
  priced: readonly Unit[],
): Quantities {
  const stated = onlyStated(usage)
  const ordered = priced.filter((unit) => (quantities[unit] ?? 0) > 0)
  if (kind === 'minutes' || sumOf(stated, ordered) > 0) return stated
  return withoutZeros(stated, ordered)
}

/** Returns the base prices beside those of a price list; undefined for a task at base prices. */
export function basePricesOf(
  { price_list: list, base_prices: prices }: ClaimedTask,
  type?: string,
): PriceEntry[] | undefined {
  return list !== null && isStored(prices) ? readPrices(prices, type) : undefined
}

/**
 * Returns the quantities measured from the result. They are ignored for orders with input videos,
 * which are billed too and which the result does not show.
 */
function readMeasured({ facts }: ClaimedTask, { measured = {} }: Succeeded): Quantities {
  return facts.video_input === true ? {} : onlyStated(measured)
}

/** Returns the model type. */
export function typeOf({ kind }: Pick<ClaimedTask, 'kind'>): ModelType {
  return kind === 'response' ? 'chat' : kind
}

/** Returns what the order itself tells of its hold. */
export function heldFor({ kind, quantities, facts }: ClaimedTask): HoldEstimate {
  return {
    quantities: { ...ONCE, ...quantities },
    alternatives: [facts],
    channels: [facts],
    ceiling: boundTask(kind, quantities, facts),
  }
}

/**
 * Returns the upstream cost of these quantities; zero without any. Null when the costs are unknown,
 * or when none of the quantities has one.
 */
function upstreamCostOf(
  task: ClaimedTask,
  quantities: Quantities,
  facts: Facts,
): UpstreamCost | null {
  if (task.upstream_cost_version === null || !isStored(task.costs)) return null
  const entries = readPrices(task.costs, task.kind)
  const isNothing = Object.keys(quantities).length === 0
  const isKnown = entries.some(({ unit }) => quantities[unit] !== undefined)
  if (!isNothing && !isKnown) return null
  return plausibleCost(
    priceCharge(entries, quantities, facts, facts).totalNanos,
    task.upstream_cost_version,
  )
}

/** Returns the upper bound of the upstream cost of a task with an unknown end. */
export function maximumUpstreamCost(task: ClaimedTask): UpstreamCost | null {
  return upstreamCostOf(task, { ...task.quantities, ...ONCE }, task.facts)
}

/** Picks the priced units for the call's record; other usage stays in the task. */
function pick(quantities: Quantities, units: readonly Unit[]): Quantities {
  return Object.fromEntries(
    units.flatMap((unit) => {
      const quantity = quantities[unit]
      return quantity === undefined ? [] : [[unit, quantity]]
    }),
  )
}

/** Returns whether a row has prices; those of a free model are null. */
export function isStored(prices: unknown): prices is readonly StoredPrice[] {
  return Array.isArray(prices)
}

/** Margin of the ceiling for frame rates, sizes and rounding that the request does not name. */
const CEILING_FACTOR = 4
/** Lower bound, twice the longest accepted recording: its header may understate its length. */
const RECORDING_SECONDS_MIN = 14_400
/**
 * Lower bound for a video made from other videos, which are billed too: no order states their
 * lengths.
 */
const FILMS_SECONDS_MIN = 120
/** Lower bound, the longest input of any model, for follow-up calls about a result. */
const INPUT_TOKENS_MIN = 2_000_000
/** Lower bound for texts: more than any model writes. */
const OUTPUT_TOKENS_MIN = 1_000_000
const OTHERS_MIN = 1_000

/**
 * Returns the ceiling, the most usage that a vendor can plausibly state per unit, from the held
 * quantities, which come from a validated request.
 */
export function boundTask(kind: string, quantities: Quantities, facts: Facts): Ceiling {
  const total = (units: readonly Unit[]) =>
    units.reduce((sum, unit) => sum + (quantities[unit] ?? 0), 0)
  const output = total(OUTPUT_UNITS)
  // A text's held output is the caller's own limit, so it cannot bound the usage; a video's can.
  const isText = output === 0 || total(INPUT_UNITS) > 0
  const bound = (quantity: number, minimum: number) => Math.max(quantity * CEILING_FACTOR, minimum)
  return {
    inputTokens: bound(total(INPUT_UNITS), INPUT_TOKENS_MIN),
    outputTokens: isText ? bound(output, OUTPUT_TOKENS_MIN) : output * CEILING_FACTOR,
    units: {
      second: bound(quantities.second ?? 0, leastSeconds(kind, quantities, facts)),
      character: bound(quantities.character ?? 0, INPUT_TOKENS_MIN),
      ...boundImages(kind, quantities),
    },
    others: OTHERS_MIN,
  }
}

/**
 * An order states its pictures. Other members of a request may ask for more of those that are made,
 * but a video takes no others.
 */
function boundImages(kind: string, { image }: Quantities): Quantities {
  if (image === undefined) return {}
  return { image: kind === 'image' ? Math.max(image, IMAGES_STATED_MAX) : image }
}

/**
 * An order for a video, or about one, states its seconds; a vendor that states milliseconds is far
 * above that.
 */
function leastSeconds(kind: string, { second }: Quantities, facts: Facts): number {
  const isOfFilm = kind === 'video' || kind === 'erase'
  if (!isOfFilm || second === undefined) return RECORDING_SECONDS_MIN
  return facts.video_input === true ? FILMS_SECONDS_MIN : 0
}
