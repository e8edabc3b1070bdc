/** Prints JSON values as formatted literals of a language. */
import type { Json } from '../frame/order.ts'

interface Dialect {
  readonly constants: Readonly<Record<'true' | 'false' | 'null', string>>
  readonly text: (text: string) => string
  readonly key: (name: string) => string
}

/** Uses single quotes where the text allows it; both languages know JSON's escapes. */
function quote(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1)
  return text.includes("'") ? `"${inner}"` : `'${inner.replaceAll('\\"', '"')}'`
}

export const NODE: Dialect = {
  constants: { true: 'true', false: 'false', null: 'null' },
  text: quote,
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name)),
}

export const PYTHON: Dialect = {
  constants: { true: 'True', false: 'False', null: 'None' },
  text: (text) => JSON.stringify(text),
  key: (name) => JSON.stringify(name),
}

const WIDTH = 76

/** `indent` is the column at which the value's line begins. */
export function printLiteral(value: Json, dialect: Dialect, indent = 0): string {
  const line = printLine(value, dialect)
  const isNested = typeof value === 'object' && value !== null
  if (!isNested || indent + line.length <= WIDTH) return line
  const inner = ' '.repeat(indent + 2)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const parts = partsOf(value, dialect, (part) => printLiteral(part, dialect, indent + 2))
  const lines = parts.map((part) => `${inner}${part},\n`).join('')
  return `${open}\n${lines}${' '.repeat(indent)}${close}`
}

function printLine(value: Json, dialect: Dialect): string {
  if (typeof value === 'string') return dialect.text(value)
  if (typeof value === 'number') return String(value)
  if (value === null) return dialect.constants.null
  if (typeof value === 'boolean') return dialect.constants[value ? 'true' : 'false']
  const parts = partsOf(value, dialect, (part) => printLine(part, dialect))
  if (Array.isArray(value)) return `[${parts.join(', ')}]`
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}

function partsOf(
  value: Exclude<Json, null | boolean | number | string>,
  dialect: Dialect,
  print: (value: Json) => string,
): string[] {
  if (isList(value)) return value.map(print)
  return Object.entries(value).flatMap(([name, part]) =>
    part === undefined ? [] : [`${dialect.key(name)}: ${print(part)}`],
  )
}

function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value)
}
