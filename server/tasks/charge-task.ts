/** What a finished task owes: at the price version of its hold, on what is known of its usage. */
import { readPrices } from '../catalog/snapshot.ts'
import type { StoredPrice } from '../catalog/store.ts'
import { type Quantities, UNITS, type Unit } from '../lib/units.ts'
import { type Charge, computeCharge, NOTHING } from '../pipeline/charge.ts'
import type { TaskLook } from '../upstreams/task-driver.ts'
import type { ClaimedTask } from './task.ts'

export type Ending = Extract<TaskLook, { state: 'succeeded' | 'failed' }>

export interface TaskCharge extends Omit<Charge, 'basis'> {
  readonly basis: Charge['basis'] | 'params'
}

/** Every task is one task and one call, whatever its upstream counts. */
const ONCE: Quantities = { task: 1, call: 1 }

export function chargeTask(task: ClaimedTask, ending: Ending): TaskCharge {
  if (ending.state === 'failed') return NOTHING
  const prices = readPrices(isStored(task.prices) ? task.prices : [])
  const isFree = task.prices === null
  const units = isFree ? UNITS : [...new Set(prices.map(({ unit }) => unit))]
  const priced = units.filter(
    (unit) => task.quantities[unit] !== undefined || ending.usage?.[unit] !== undefined,
  )
  const usage: Quantities = { ...ONCE, ...ending.usage }
  const isStated = priced.every((unit) => usage[unit] !== undefined)
  const fallback = { ...task.quantities, ...ending.measured, ...usage }
  const charge = computeCharge({
    model: { free: isFree, prices },
    facts: { ...task.facts, ...ending.facts },
    holdNanos: task.hold_amount,
    held: task,
    report: {
      outputBytes: 1,
      finished: true,
      ...(isStated ? { usage: only(usage, priced) } : {}),
    },
    complete: true,
    billsBroken: false,
    fallback: () => only(fallback, priced),
  })
  return { ...charge, basis: charge.basis === 'estimate' ? 'params' : charge.basis }
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
