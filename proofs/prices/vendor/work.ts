/** Calculates the vendor's work from a plan and the received bytes. */

import type { WorkPlan } from '../plan.ts'
import type { Work } from './bill.ts'

/** `history`: input and output tokens of the calls that this one builds on. */
export function doWork(plan: WorkPlan, bytes: number, history: number): Work {
  const perThousand = Math.min(plan.tokensPerThousandBytes, 1_000)
  const input = Math.floor((bytes * perThousand) / 1_000) + plan.hiddenInput + history
  const counts: Record<string, number> = {}
  let rest = input
  for (const [unit, thousandths] of Object.entries(plan.shares)) {
    const quantity = Math.floor((input * thousandths) / 1_000)
    if (quantity > 0) counts[unit] = quantity
    rest -= quantity
  }
  if (rest > 0) counts.input_token = rest
  for (const [unit, quantity] of Object.entries(plan.fixed)) {
    if (quantity > 0) counts[unit] = quantity
  }
  return {
    counts,
    served: plan.served,
    passes: plan.passes,
    ...(plan.cost === undefined ? {} : { costNanos: plan.cost }),
  }
}
