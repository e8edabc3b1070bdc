/**
 * Environment variables in catalog files: `${NAME}` is replaced when a file is applied; a value
 * that is exactly `env:NAME` is stored as written and read by each gateway when it loads the
 * catalog.
 */
export type Environment = Readonly<Record<string, string | undefined>>
export type Path = readonly (string | number)[]

const PLACE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g
const REFERENCE = /^env:([A-Za-z_][A-Za-z0-9_]*)$/

/** Returns a path in the form `models[3].prices[0].amount`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? String(step) : `${text}.${String(step)}`
  }, '')
}

/** Returns the NAME of a value `env:NAME`, or undefined for any other value. */
export function variableNameOf(value: unknown): string | undefined {
  return typeof value === 'string' ? REFERENCE.exec(value)?.[1] : undefined
}

/** Replaces `${NAME}` in every string. Calls `missing` for each variable that is not set. */
export function substitute(
  value: unknown,
  environment: Environment,
  missing: (path: Path, name: string) => void,
): unknown {
  return mapStrings(value, (text, path) =>
    text.replace(PLACE, (place, name: string) => {
      const found = environment[name]
      if (found === undefined) missing(path, name)
      return found ?? place
    }),
  )
}

/** Replaces each `env:NAME` by its value. Calls `missing` for each variable that is not set. */
export function dereference(
  value: unknown,
  environment: Environment,
  missing: (path: Path, name: string) => void,
): unknown {
  return mapStrings(value, (text, path) => {
    const name = variableNameOf(text)
    if (name === undefined) return text
    const found = environment[name]
    if (found === undefined || found === '') missing(path, name)
    return found ?? text
  })
}

/** Recursion is safe: the value came from JSON.parse, which bounds its depth. */
function mapStrings(
  value: unknown,
  change: (text: string, path: Path) => string,
  path: Path = [],
): unknown {
  if (typeof value === 'string') return change(value, path)
  if (Array.isArray(value)) {
    return value.map((item, index) => mapStrings(item, change, [...path, index]))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapStrings(item, change, [...path, key])]),
  )
}
