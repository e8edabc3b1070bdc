/** What a finished task owes: at the price version of its hold, on what is known of its usage. */
import type { Facts, ModelType } from '../../catalog/catalog.ts'
import { readPrices } from '../../catalog/load/load-model.ts'
import { priceCharge } from '../../catalog/price/price.ts'
import type { StoredPrice } from '../../catalog/store.ts'
import { type Quantities, UNITS, type Unit } from '../../lib/units.ts'
import { onlyStated } from '../../pipeline/price/ceiling.ts'
import { type Charge, computeCharge, NOTHING } from '../../pipeline/price/charge.ts'
import { believe, type CallCost } from '../../pipeline/price/cost.ts'
import type { Held } from '../../pipeline/price/held.ts'
import type { TaskPoll } from '../../upstreams/task-driver.ts'
import type { ClaimedTask } from '../task.ts'
import { boundTask } from './task-ceiling.ts'

export type TaskEnding = Extract<TaskPoll, { state: 'succeeded' | 'failed' }>

export interface TaskCharge extends Omit<Charge, 'basis'> {
  readonly basis: Charge['basis'] | 'params'
  /** What the upstream takes for it; null is unknown. */
  readonly cost: CallCost | null
}

/** Every task is one task and one call, whatever its upstream counts. */
const ONCE: Quantities = { task: 1, call: 1 }

export function chargeTask(task: ClaimedTask, ending: TaskEnding): TaskCharge {
  if (ending.state === 'failed') return { ...NOTHING, cost: costOf(task, {}, {}) }
  const prices = readPrices(isStored(task.prices) ? task.prices : [], task.kind)
  const isFree = task.prices === null
  const units = isFree ? UNITS : [...new Set(prices.map(({ unit }) => unit))]
  const priced = units.filter(
    (unit) => task.quantities[unit] !== undefined || ending.usage?.[unit] !== undefined,
  )
  const usage: Quantities = { ...ONCE, ...onlyStated(ending.usage ?? {}) }
  const isStated = priced.every((unit) => usage[unit] !== undefined)
  const stated = isStated || !isFree ? { usage: only(usage, priced) } : {}
  const fallback = { ...task.quantities, ...ending.measured, ...usage }
  const facts = { ...task.facts, ...ending.facts }
  const { unknownUsage = [] } = ending
  const charge = computeCharge({
    model: { type: typeOf(task), free: isFree, prices, currency: '' },
    facts,
    channelFacts: facts,
    holdNanos: task.hold_amount,
    held: heldFor(task),
    report: { outputBytes: 1, finished: true, unknownUsage, ...stated },
    complete: true,
    billsBroken: false,
    ...(isFree ? {} : { needs: priced }),
    fallback: () => only(fallback, priced),
  })
  return {
    ...charge,
    basis: charge.basis === 'estimate' ? 'params' : charge.basis,
    cost: charge.review ? null : costOf(task, fallback, facts),
  }
}

/** Background responses are charged as calls of their model, not here. */
function typeOf({ kind }: ClaimedTask): ModelType {
  return kind === 'response' ? 'chat' : kind
}

function heldFor({ quantities, facts }: ClaimedTask): Held {
  return {
    quantities: { ...ONCE, ...quantities },
    alternatives: [facts],
    channels: [facts],
    ceiling: boundTask(quantities),
  }
}

/**
 * What the upstream takes for these quantities; without any, nothing. Null when its costs are not
 * known, or when none of what it counts is among them.
 */
function costOf(task: ClaimedTask, quantities: Quantities, facts: Facts): CallCost | null {
  if (task.upstream_cost_version === null || !isStored(task.costs)) return null
  const entries = readPrices(task.costs, task.kind)
  const isNothing = Object.keys(quantities).length === 0
  const isKnown = entries.some(({ unit }) => quantities[unit] !== undefined)
  if (!isNothing && !isKnown) return null
  return believe(
    priceCharge(entries, quantities, facts, facts).totalNanos,
    task.upstream_cost_version,
  )
}

/** The most that the upstream can have billed for a task of which nobody knows how it ended. */
export function costAtMost(task: ClaimedTask): CallCost | null {
  return costOf(task, { ...task.quantities, ...ONCE }, task.facts)
}

/** A record shows what is paid for; an upstream's other figures stay in the task. */
function only(quantities: Quantities, units: readonly Unit[]): Quantities {
  return Object.fromEntries(
    units.flatMap((unit) => {
      const quantity = quantities[unit]
      return quantity === undefined ? [] : [[unit, quantity]]
    }),
  )
}

export function isStored(prices: unknown): prices is readonly StoredPrice[] {
  return Array.isArray(prices)
}
