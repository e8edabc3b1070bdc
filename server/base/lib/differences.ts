/** Compares two values of JSON leaf by leaf. */

/** A leaf that differs; `from` or `to` is absent where the other value has no such leaf. */
export interface LeafDifference {
  readonly path: string
  readonly from?: string
  readonly to?: string
}

/**
 * Returns the leaves that differ, in the order of their paths: none if and only if the values are
 * the same JSON. Undefined members are absent.
 */
export function findDifferences(before: unknown, after: unknown): LeafDifference[] {
  const old = collectLeaves(before)
  const fresh = collectLeaves(after)
  const paths = [...new Set([...old.keys(), ...fresh.keys()])]
  return paths.flatMap((path): LeafDifference[] => {
    const from = old.get(path)
    const to = fresh.get(path)
    if (from === to) return []
    return [{ path, from, to }]
  })
}

/** Recursion is safe: the values came from JSON.parse, which bounds their depth. */
function collectLeaves(value: unknown, path = '', found = new Map<string, string>()) {
  if (typeof value !== 'object' || value === null) {
    if (value !== undefined) found.set(path, JSON.stringify(value))
    return found
  }
  const entries = Object.entries(value)
  if (entries.length === 0 && path !== '') found.set(path, Array.isArray(value) ? '[]' : '{}')
  for (const [key, item] of entries) {
    // A name with a point must not give the path of another leaf.
    const name = /[.[\]]/.test(key) ? `[${JSON.stringify(key)}]` : path === '' ? key : `.${key}`
    collectLeaves(item, path + (Array.isArray(value) ? `[${key}]` : name), found)
  }
  return found
}
