/** The response header that names what the upstream did not get. */

const HEADER = 'x-tributary-ignored'
const SAFE = /^[\w.=[\]-]{1,130}$/
const IGNORED_MAX = 20

/** Returns no header for an empty list. */
export function nameIgnored(names: readonly string[]): Readonly<Record<string, string>> {
  if (names.length === 0) return {}
  const safeNames = names.slice(0, IGNORED_MAX).map((name) => (SAFE.test(name) ? name : '?'))
  return { [HEADER]: safeNames.join(', ') }
}
