/**
 * The role `developer`, as clients send it to every reasoning model. A vendor that refuses it names
 * it, and the same messages from `system` are answered: nothing was done or billed before.
 */
import { EXACT_BYTES_MAX, tryParseExact } from '../../../base/lib/exact-numbers.ts'
import { isObject, type JsonObject, writeJson } from '../../../base/lib/json.ts'
import { UpstreamFailure } from '../failure.ts'
import type { CallRequest } from '../upstream.ts'

const ROLE = 'developer'

/** Returns the messages as JSON that a refusal of the role demands; undefined for any other. */
export function demandedMessages(
  failure: unknown,
  { body, fields }: CallRequest,
): string | undefined {
  if (!(failure instanceof UpstreamFailure) || failure.kind !== 'rejected') return undefined
  const member = fields.get('messages')
  if (!member || !failure.details.message?.includes(ROLE)) return undefined
  // In larger ones long integers are not kept, and reading them would hold up other calls.
  if (member.valueEnd - member.valueStart > EXACT_BYTES_MAX) return undefined
  const messages = tryParseExact(body.subarray(member.valueStart, member.valueEnd))
  if (!Array.isArray(messages) || !messages.some(isDevelopers)) return undefined
  return writeJson(messages.map((one) => (isDevelopers(one) ? { ...one, role: 'system' } : one)))
}

function isDevelopers(message: unknown): message is JsonObject {
  return isObject(message) && message.role === ROLE
}
