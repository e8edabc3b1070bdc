/** The response header that names what the upstream did not get. */

const HEADER = 'x-tributary-ignored'
const SAFE = /^[\w.=$:[\]-]{1,130}$/
const IGNORED_MAX = 20

/** Returns no header for an empty list. */
export function nameIgnored(names: readonly string[]): Readonly<Record<string, string>> {
  if (names.length === 0) return {}
  const safeNames = names.slice(0, IGNORED_MAX).map((name) => (SAFE.test(name) ? name : '?'))
  return { [HEADER]: safeNames.join(', ') }
}

/** Returns the headers of an answer with further names in front. */
export function addIgnored(
  headers: Readonly<Record<string, string>>,
  names: readonly string[],
): Readonly<Record<string, string>> {
  const { [HEADER]: others, ...rest } = headers
  const named = nameIgnored(names)[HEADER]
  const all = [named, others].filter((one) => one !== undefined)
  return all.length === 0 ? rest : { ...rest, [HEADER]: all.join(', ') }
}
