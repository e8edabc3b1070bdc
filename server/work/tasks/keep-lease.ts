/** Renews the lease of a task while this process works on it. */
import type { Engine } from './engine.ts'
import { renewTask } from './store.ts'
import type { ClaimedTask } from './task.ts'

/** Renews the lease until the returned function is called. A lost lease stays lost. */
export function keepLease(
  { sql, times }: Pick<Engine, 'sql' | 'times'>,
  task: Pick<ClaimedTask, 'id' | 'account_id' | 'fence'>,
): () => void {
  const timer = setInterval(() => {
    // A failed renewal needs no handling: the fencing token refuses any later write.
    renewTask(sql, task, times.leaseMs).catch(() => undefined)
  }, times.leaseMs / 3)
  return () => clearInterval(timer)
}
