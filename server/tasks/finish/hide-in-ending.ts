/** What a caller reads of a task that failed at a vendor. */
import { hideInside } from '../../lib/text/hide-inside.ts'
import { knownIn } from '../../pipeline/refusal.ts'
import type { TaskEnding } from './charge-task.ts'

/** The ending without addresses, paths and keys of the vendor; `asked` is the caller's request. */
export function hideInEnding(ending: TaskEnding, asked: Buffer | string): TaskEnding {
  if (ending.state === 'succeeded') return ending
  const known = knownIn(asked)
  const { code, message } = ending
  return { ...ending, code: hideInside(code, known), message: hideInside(message, known) }
}
