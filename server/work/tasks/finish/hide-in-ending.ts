/** The public error of a task that failed at a vendor. */
import { redactInternals } from '../../../base/lib/text/redact-internals.ts'
import { knownIn } from '../../pipeline/refusal.ts'
import type { TaskEnding } from './charge-task.ts'

/** Removes the vendor's addresses, paths and keys, unless the caller's own request names them. */
export function hideInEnding(ending: TaskEnding, requestText: Buffer | string): TaskEnding {
  if (ending.state === 'succeeded') return ending
  const known = knownIn(requestText)
  const { code, message } = ending
  return { ...ending, code: redactInternals(code, known), message: redactInternals(message, known) }
}
