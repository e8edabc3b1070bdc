/** The methods of finding a submission whose outcome is unknown. */
import type { TaskAttempt, TaskDriver } from '../../../wire/upstreams/task-driver.ts'

/** A recovery method. `none`: the submission is given up after some time. */
export type RecoveryMethod = 'own_id' | 'repeated' | 'list' | 'callback' | 'none'

/** Pauses before each look-up, in poll intervals: a new task may not be known immediately. */
export const LOOK_UP_PAUSES = [0, 0.5, 1]

/** Returns the best method: queries first, else waiting for a vendor callback. */
export function recoveryMethodOf(
  { recover, repeats, list }: TaskDriver,
  { vendorCallbackUrl }: TaskAttempt,
): RecoveryMethod {
  if (recover) return 'own_id'
  if (repeats) return 'repeated'
  if (list) return 'list'
  return vendorCallbackUrl === undefined ? 'none' : 'callback'
}
