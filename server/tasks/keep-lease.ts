/** Whoever works on a task keeps it to themselves for as long as they are at it. */
import type { Engine } from './engine.ts'
import { renewTask } from './store.ts'
import type { ClaimedTask } from './task.ts'

/** Renews the lease until the returned function is called. One that is lost stays lost. */
export function keepLease(
  { sql, times }: Pick<Engine, 'sql' | 'times'>,
  { id, fence }: Pick<ClaimedTask, 'id' | 'fence'>,
): () => void {
  const timer = setInterval(() => {
    // Whoever writes without the lease is refused then; nothing needs to be done here.
    renewTask(sql, id, fence, times.leaseMs).catch(() => undefined)
  }, times.leaseMs / 3)
  return () => clearInterval(timer)
}
