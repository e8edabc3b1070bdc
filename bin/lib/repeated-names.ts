/** Finds duplicate names in a JSON object, of which a parser silently uses the last. */

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/g

interface Open {
  /** The names so far; absent for a list. */
  readonly names?: Set<string>
  /** The name or the place of the current value. */
  step: PropertyKey
}

/** Returns the path of the first repeated name, if there is one. `json` must be valid. */
export function findRepeatedName(json: string): PropertyKey[] | undefined {
  const open: Open[] = []
  let text = '""'
  for (const [token] of json.matchAll(TOKENS)) {
    const inner = open.at(-1)
    if (token === '{') open.push({ names: new Set(), step: '' })
    else if (token === '[') open.push({ step: 0 })
    else if (token === '}' || token === ']') open.pop()
    else if (token === ',' && typeof inner?.step === 'number') inner.step += 1
    else if (token === ':' && inner?.names) {
      const name: string = JSON.parse(text)
      inner.step = name
      if (inner.names.has(name)) return open.map(({ step }) => step)
      inner.names.add(name)
    } else text = token
  }
  return undefined
}
