/**
 * The role `developer`, as clients send it to every reasoning model. A vendor that refuses it names
 * it, and the same messages from `system` are answered: nothing was done or billed before.
 */
import { isObject, type JsonObject, writeJson } from '../../../base/lib/json.ts'
import { UpstreamFailure } from '../failure.ts'

const ROLE = 'developer'

/** Returns the messages as JSON that a refusal of the role demands; undefined for any other. */
export function demandedMessages(failure: unknown, { messages }: JsonObject): string | undefined {
  if (!(failure instanceof UpstreamFailure) || failure.kind !== 'rejected') return undefined
  if (!failure.details.message?.includes(ROLE) || !Array.isArray(messages)) return undefined
  if (!messages.some(isDevelopers)) return undefined
  return writeJson(messages.map((one) => (isDevelopers(one) ? { ...one, role: 'system' } : one)))
}

function isDevelopers(message: unknown): message is JsonObject {
  return isObject(message) && message.role === ROLE
}
