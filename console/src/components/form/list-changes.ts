/** Compares two versions of a configuration, leaf by leaf. */

export interface Change {
  /** For example `prices[0].amount`. */
  readonly path: string
  /** The values as text; absent where there is none. */
  readonly before?: string
  readonly after?: string
  /** A secret, of which only the change is shown. */
  readonly isSecret?: true
}

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the members that differ, so that a save leaves alone what others changed meanwhile. */
export function onlyChanged<Body extends object>(before: Body, after: Body): Partial<Body> {
  const old = new Map<string, unknown>(Object.entries(before))
  const changed = Object.entries(after).filter(
    ([name, value]) => listChanges(old.get(name), value).length > 0,
  )
  return Object.fromEntries(changed) as Partial<Body>
}

export function listChanges(before: unknown, after: unknown, path = ''): Change[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    return names.flatMap((name) =>
      listChanges(before[name], after[name], path ? `${path}.${name}` : name),
    )
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length)
    return Array.from({ length }, (_, at) =>
      listChanges(before[at], after[at], `${path}[${at}]`),
    ).flat()
  }
  const json = { before: JSON.stringify(before), after: JSON.stringify(after) }
  if (json.before === json.after) return []
  const plain = { before: toText(before), after: toText(after) }
  // Where only the type differs, as of "5" and 5, quotes tell them apart.
  const texts = plain.before === plain.after ? json : plain
  return [
    {
      path,
      ...(texts.before === undefined ? {} : { before: texts.before }),
      ...(texts.after === undefined ? {} : { after: texts.after }),
    },
  ]
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
