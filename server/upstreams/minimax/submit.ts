/**
 * Submits in either protocol, with the callback URL. The vendor verifies the URL before it accepts
 * the task, and rejects the submission if there is no response. Callbacks are optional, so the task
 * is then submitted without them.
 */

import { isObject, type JsonObject, member } from '../../lib/json.ts'
import { UpstreamFailure } from '../failure.ts'
import { sendWithKey } from '../send-with-key.ts'
import { readUpstreamId, submittedAs } from '../task-answer.ts'
import type { SubmittedTask, TaskAttempt, TaskCallbacks } from '../task-driver.ts'
import type { Wire } from '../wire.ts'
import { readMinimaxAnswer } from './read-answer.ts'
import type { MinimaxSettings } from './settings.ts'

/** Longer texts are not echoed. */
const CHALLENGE_LENGTH_MAX = 1_000

export async function submitVideo(
  wire: Wire,
  settings: MinimaxSettings,
  { path, body }: { readonly path: string; readonly body: JsonObject },
  { vendorCallbackUrl }: TaskAttempt,
): Promise<SubmittedTask> {
  try {
    return await submitOnce(wire, settings, path, { ...body, callback_url: vendorCallbackUrl })
  } catch (error) {
    if (vendorCallbackUrl === undefined || !isAboutAddress(error)) throw error
    return await submitOnce(wire, settings, path, body)
  }
}

async function submitOnce(
  wire: Wire,
  settings: MinimaxSettings,
  path: string,
  body: JsonObject,
): Promise<SubmittedTask> {
  const bytes = Buffer.from(JSON.stringify(body))
  const response = await sendWithKey(wire, settings, 'POST', path, bytes)
  const answer = await readMinimaxAnswer(response)
  return submittedAs(answer.task_id, response, answer)
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
