/** Applies the changes of settings that a conversation contains: the last of each counts. */
import { isObject, type JsonObject, member } from '../../lib/json.ts'

/** Returns the request with the `reasoning` and `text` of its `configuration_update` items. */
export function applyUpdates(request: JsonObject): JsonObject {
  const { input } = request
  if (!Array.isArray(input)) return request
  const updates = input.filter((item) => member(item, 'type') === 'configuration_update')
  const reasoning = merge(request.reasoning, updates, 'reasoning')
  const text = merge(request.text, updates, 'text')
  const isSame = reasoning === request.reasoning && text === request.text
  return isSame ? request : { ...request, reasoning, text }
}

function merge(value: unknown, updates: readonly unknown[], name: string): unknown {
  let merged: Map<string, unknown> | undefined
  for (const update of updates) {
    const members = member(update, name)
    if (!isObject(members)) continue
    merged ??= new Map(isObject(value) ? Object.entries(value) : [])
    for (const [key, one] of Object.entries(members)) merged.set(key, one)
  }
  return merged ? Object.fromEntries(merged) : value
}
