/**
 * Submissions in either protocol name a callback URL. The vendor verifies the URL before it accepts
 * the task, and rejects the submission if there is no response. Callbacks are optional, so the task
 * is then submitted without them.
 */

import { isObject, member } from '../../../base/lib/json.ts'
import { UpstreamFailure } from '../failure.ts'
import { readUpstreamId } from '../task-answer.ts'
import type { TaskCallbacks, TaskDriver } from '../task-driver.ts'
import type { MinimaxSettings } from './settings.ts'

type Driver = TaskDriver<MinimaxSettings>

/** Longer texts are not echoed. */
const CHALLENGE_LENGTH_MAX = 1_000

/** Returns a driver that submits once more, without the URL, where that was refused. */
export function withoutRefusedUrl(driver: Driver): Driver {
  return {
    ...driver,
    async submit(wire, order, attempt) {
      try {
        return await driver.submit(wire, order, attempt)
      } catch (error) {
        if (attempt.vendorCallbackUrl === undefined || !isAboutAddress(error)) throw error
        return await driver.submit(wire, order, { id: attempt.id })
      }
    },
  }
}

/** True for a clear refusal of the callback's address: a task that may exist is not sent again. */
function isAboutAddress(error: unknown): boolean {
  if (!(error instanceof UpstreamFailure) || error.kind !== 'rejected') return false
  return /callback/i.test(error.details.message ?? '')
}

export const callbacks: TaskCallbacks<MinimaxSettings> = {
  isEnabled: (settings) => settings.callbacks,
  // Vendor callbacks have the form of the answer to a poll, which differs between the protocols.
  read(body) {
    const { challenge, task, task_id: taskId } = body
    if (typeof challenge === 'string' && challenge.length <= CHALLENGE_LENGTH_MAX) {
      return { reply: { challenge } }
    }
    return { upstreamId: readUpstreamId(isObject(task) ? member(task, 'id') : taskId) }
  },
}
