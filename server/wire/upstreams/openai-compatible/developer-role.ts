/**
 * The role `developer`, as clients send it to every reasoning model. A vendor that refuses it names
 * it, and the same messages from `system` are answered: nothing was done or billed before.
 */
import { tryParseExact } from '../../../base/lib/exact-numbers.ts'
import { isObject, type JsonObject, writeJson } from '../../../base/lib/json.ts'
import { UpstreamFailure } from '../failure.ts'
import type { CallRequest } from '../upstream.ts'

const ROLE = 'developer'
/** Larger messages are not read again, which would hold up other calls. */
const MESSAGES_BYTES_MAX = 2_000_000

/** Returns the messages as JSON that a refusal of the role demands; undefined for any other. */
export function demandedMessages(
  failure: unknown,
  { body, fields }: CallRequest,
): string | undefined {
  if (!(failure instanceof UpstreamFailure) || failure.kind !== 'rejected') return undefined
  const member = fields.get('messages')
  if (!member || !failure.details.message?.includes(ROLE)) return undefined
  if (member.valueEnd - member.valueStart > MESSAGES_BYTES_MAX) return undefined
  const messages = tryParseExact(body.subarray(member.valueStart, member.valueEnd))
  if (!Array.isArray(messages) || !messages.some(isDevelopers)) return undefined
  return writeJson(messages.map((one) => (isDevelopers(one) ? { ...one, role: 'system' } : one)))
}

function isDevelopers(message: unknown): message is JsonObject {
  return isObject(message) && message.role === ROLE
}
