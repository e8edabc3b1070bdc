/** Checks a messages request as far as the gateway needs it; the upstream checks the rest. */
import { isObject, type JsonObject } from '../../../base/lib/json.ts'
import { InvalidRequest } from '../invalid-request.ts'

const ROLES = new Set<unknown>(['user', 'assistant', 'system'])

/** Throws `InvalidRequest` naming the field. Counting tokens needs no `max_tokens`. */
export function validateMessagesRequest(
  request: JsonObject,
  { needsMaxTokens }: { readonly needsMaxTokens: boolean },
): void {
  const { max_tokens: limit, messages, stream } = request
  if (needsMaxTokens && !(typeof limit === 'number' && Number.isSafeInteger(limit) && limit > 0)) {
    throw new InvalidRequest('max_tokens', 'must be a whole number of at least 1')
  }
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new InvalidRequest('messages', 'must be an array of at least one message')
  }
  for (const [position, message] of messages.entries()) {
    validateMessage(message, `messages[${position}]`)
  }
  if (stream !== undefined && typeof stream !== 'boolean') {
    throw new InvalidRequest('stream', 'must be true or false')
  }
}

function validateMessage(message: unknown, param: string): void {
  if (!isObject(message)) throw new InvalidRequest(param, 'must be an object')
  const { role, content } = message
  if (!ROLES.has(role)) {
    throw new InvalidRequest(`${param}.role`, 'must be user, assistant or system')
  }
  if (typeof content === 'string') return
  if (!Array.isArray(content)) {
    throw new InvalidRequest(`${param}.content`, 'must be a string or an array')
  }
  for (const [position, block] of content.entries()) {
    const at = `${param}.content[${position}]`
    if (!isObject(block)) throw new InvalidRequest(at, 'must be an object')
    if (typeof block.type !== 'string') throw new InvalidRequest(`${at}.type`, 'is required')
  }
}
