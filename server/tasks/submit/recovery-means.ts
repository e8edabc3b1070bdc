/** By what means an upstream can find a submission whose outcome is unknown. */
import type { TaskAttempt, TaskDriver } from '../../upstreams/task-driver.ts'

/** By what an upstream finds a lost submission. `none`: it has no means, only time passes. */
export type Means = 'own_id' | 'repeated' | 'list' | 'callback' | 'none'

/** What can be asked comes first; a vendor that only reports is waited for. */
export function meansOf(
  { recover, repeats, list }: TaskDriver,
  { vendorCallbackUrl }: TaskAttempt,
): Means {
  if (recover) return 'own_id'
  if (repeats) return 'repeated'
  if (list) return 'list'
  return vendorCallbackUrl === undefined ? 'none' : 'callback'
}
