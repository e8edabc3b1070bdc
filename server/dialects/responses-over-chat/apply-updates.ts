/** Applies the changes of settings that a conversation contains: the last of each counts. */
import { isObject, type JsonObject } from '../../lib/json.ts'

/** Returns the request with the `reasoning` and `text` of its `configuration_update` items. */
export function applyUpdates(request: JsonObject): JsonObject {
  const { input } = request
  if (!Array.isArray(input)) return request
  let { reasoning, text } = request
  for (const item of input) {
    if (!isObject(item) || item.type !== 'configuration_update') continue
    reasoning = merge(reasoning, item.reasoning)
    text = merge(text, item.text)
  }
  const isSame = reasoning === request.reasoning && text === request.text
  return isSame ? request : { ...request, reasoning, text }
}

function merge(value: unknown, update: unknown): unknown {
  if (!isObject(update)) return value
  return isObject(value) ? { ...value, ...update } : update
}
