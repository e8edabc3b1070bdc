/** Reads the lifetime that a request asks for where it marks content for a cache. */
import { isObject, type JsonObject, member } from '../../../base/lib/json.ts'

/** The lifetime of a request's cache writes, if it states one. */
export type WriteLifetime = '5m' | '1h'

/** Lists of a request whose entries may have marks. */
const LISTS = ['system', 'tools', 'messages', 'input'] as const
/** Members of an entry that may have marks of their own. */
const INNER = ['content', 'output', 'function'] as const

/**
 * Returns the longest lifetime of all marks (`cache_control`); undefined without any. A mark that
 * names none asks for five minutes.
 */
export function readWriteLifetime(value: JsonObject): WriteLifetime | undefined {
  const set = listSetMarks(value)
  if (set.some(({ ttl }) => ttl === '1h')) return '1h'
  return set.length > 0 ? '5m' : undefined
}

/** Lifetimes that vendors bill as the default. */
const SHORT: ReadonlySet<unknown> = new Set([undefined, null, '5m', '30m'])

/** Returns true for a lifetime with a price of its own. */
export function isLongLifetime(ttl: unknown): boolean {
  return !SHORT.has(ttl)
}

/** Returns `cache_control.ttl` for a request with a mark of a longer lifetime than the default. */
export function nameLongLifetime(value: JsonObject): readonly string[] {
  return listSetMarks(value).some(({ ttl }) => isLongLifetime(ttl)) ? ['cache_control.ttl'] : []
}

function listSetMarks(value: JsonObject): readonly JsonObject[] {
  const marks = [value.cache_control, ...LISTS.flatMap((name) => listMarks(value[name]))]
  return marks.filter(isObject)
}

/** Recursion is limited by the depth of the body. */
function listMarks(holder: unknown): readonly unknown[] {
  if (Array.isArray(holder)) return holder.flatMap(listMarks)
  if (!isObject(holder)) return []
  const inner = INNER.flatMap((name) => listMarks(member(holder, name)))
  return [holder.cache_control, ...inner]
}
