/**
 * Serialises arrays. The client would otherwise query the array types on every new connection, and
 * losing a connection during that query ends the process with an unhandled rejection.
 */
import { storableText, stringifyStorable } from '../../lib/text/well-formed.ts'

interface ElementType {
  /** Object identifiers of PostgreSQL's catalog (pg_type.dat), which never change. */
  readonly element: number
  readonly array: number
  readonly parse: (text: string) => unknown
}

const asText = (text: string) => text
const asJson = (text: string): unknown => JSON.parse(text)
const asBytes = (text: string) => Buffer.from(text.slice(2), 'hex')

const ELEMENTS: Readonly<Record<string, ElementType>> = {
  boolean: { element: 16, array: 1000, parse: (text) => text === 't' },
  bytea: { element: 17, array: 1001, parse: asBytes },
  bigint: { element: 20, array: 1016, parse: (text) => BigInt(text) },
  smallint: { element: 21, array: 1005, parse: Number },
  integer: { element: 23, array: 1007, parse: Number },
  text: { element: 25, array: 1009, parse: asText },
  double: { element: 701, array: 1022, parse: Number },
  varchar: { element: 1043, array: 1015, parse: asText },
  date: { element: 1082, array: 1182, parse: (text) => new Date(text) },
  timestamptz: { element: 1184, array: 1185, parse: (text) => new Date(text) },
  numeric: { element: 1700, array: 1231, parse: asText },
  uuid: { element: 2950, array: 2951, parse: asText },
  jsonb: { element: 3802, array: 3807, parse: asJson },
}

/** The client's definition of every array type, by name. */
export const arrayTypes = Object.fromEntries(
  Object.entries(ELEMENTS).map(([name, { element, array, parse }]) => [
    `${name}_array`,
    {
      to: array,
      from: [array],
      serialize: (value: unknown) => writeArray(value, element),
      parse: (text: string) => readArray(text, parse),
    },
  ]),
)

/** Returns an array as a PostgreSQL literal. Other values are converted to strings. */
function writeArray(value: unknown, element: number): string {
  if (!Array.isArray(value)) return String(value)
  return `{${value.map((item: unknown) => writeElement(item, element)).join(',')}}`
}

function writeElement(item: unknown, element: number): string {
  if (item === null) return 'NULL'
  if (item === undefined) throw new TypeError('undefined in an array parameter')
  const text = elementText(item, element)
  if (BARE.test(text)) return text
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/** Text that needs no quotes, such as ids and amounts; an unquoted NULL would be null. */
const BARE = /^(?!null$)[\w.:-]+$/i

function elementText(item: unknown, element: number): string {
  if (element === ELEMENTS.jsonb?.element) return stringifyStorable(item)
  if (item instanceof Date) return item.toISOString()
  if (item instanceof Uint8Array) return `\\x${Buffer.from(item).toString('hex')}`
  return storableText(String(item))
}

/**
 * One quoted or bare element of a literal such as `{1,NULL,"two \"words\""}`. The closing quote is
 * always there; the pattern does not require it, which saves a second attempt at each quote inside.
 */
const ELEMENT = /"((?:[^"\\]|\\.)*)"?|([^",{}]+)/gs

/** Parses a one-dimensional literal; the gateway stores no others. */
function readArray(text: string, parse: (text: string) => unknown): unknown[] {
  // The form that the ledger returns for nearly every batch.
  if (text === '{}') return []
  return Array.from(text.slice(1, -1).matchAll(ELEMENT), ([, quoted, bare]) => {
    if (quoted !== undefined) return parse(quoted.replace(/\\(.)/gs, '$1'))
    return bare === undefined || bare === 'NULL' ? null : parse(bare)
  })
}
