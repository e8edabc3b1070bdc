/**
 * The text of an object: three tables in the form that psql loads, with the names and types of
 * their columns. It is written from the output of COPY, and read back as lines of JSON, one for
 * each hold with its call and its entries, which is also the format of older objects.
 */

import type { TableShape } from '../../base/database/backup/backup-store.ts'
import { readCopyLine } from '../../base/database/backup/copy-text.ts'
import { OperatorError } from '../../base/lib/operator-error.ts'

const FORMAT = '-- tributary archive 2'
const END = '\\.'

export const BEGIN_TABLES = Buffer.from(`${FORMAT}\n`)
export const END_TABLE = Buffer.from(`${END}\n`)

export function beginTable({ name, columns, types }: TableShape): Buffer {
  const typed = columns.map((column, index) => `${column} ${types[index]}`).join(', ')
  return Buffer.from(`create table if not exists ${name} (${typed});\ncopy ${name} from stdin;\n`)
}

interface Table {
  readonly columns: readonly (readonly [name: string, type: string])[]
  /** The position of the column that links a row to its hold. */
  readonly key: number
  readonly rows: (string | null)[][]
}

/**
 * Splits the text of an object into lines of JSON. Throws OperatorError if it has neither format.
 */
export function linesOfObject(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '')
  if (lines[0] === undefined || lines[0].startsWith('{')) return lines
  if (lines[0] !== FORMAT) {
    throw new OperatorError(
      `an object of the archive begins with "${lines[0].slice(0, 40)}", which this version of ` +
        'tributary does not read: use the version that wrote it, or a later one',
    )
  }
  const tables = readTables(lines)
  const [holds, calls, entries] = [tables.get('hold'), tables.get('call'), tables.get('entry')]
  if (!holds || !calls || !entries) throw damaged('a table is missing')
  return joinRows(holds, calls, entries)
}

/** The columns that link a row to its hold. */
const KEYS: Readonly<Record<string, string>> = { hold: 'id', call: 'hold_id', entry: 'posting' }
const CREATE = /^create table if not exists (\w+) \((.*)\);$/

function readTables(lines: readonly string[]): Map<string, Table> {
  const tables = new Map<string, Table>()
  let table: Table | undefined
  let isCopied = false
  for (const line of lines.slice(1)) {
    if (isCopied && line === END) isCopied = false
    else if (isCopied) table?.rows.push(readCopyLine(line))
    else if (line.startsWith('copy ')) isCopied = true
    else {
      const [, name = '', typed = ''] = CREATE.exec(line) ?? []
      table = openTable(name, typed)
      tables.set(name, table)
    }
  }
  if (isCopied) throw damaged('a table has no end')
  return tables
}

function openTable(name: string, typed: string): Table {
  const columns = typed.split(', ').map((column): [string, string] => {
    const space = column.indexOf(' ')
    return [column.slice(0, space), column.slice(space + 1)]
  })
  const key = columns.findIndex(([column]) => column === KEYS[name])
  if (key < 0) throw damaged('a table has no name or no key')
  return { columns, key, rows: [] }
}

function joinRows(holds: Table, calls: Table, entries: Table): string[] {
  const callOf = new Map(calls.rows.map((row) => [row[calls.key], row]))
  const idPlace = entries.columns.findIndex(([column]) => column === 'id')
  const entriesOf = Map.groupBy(entries.rows, (row) => row[entries.key])
  const lines = holds.rows.map((hold) => {
    const id = hold[holds.key]
    const call = callOf.get(id)
    const own = (entriesOf.get(id) ?? []).sort((a, b) => Number(a[idPlace]) - Number(b[idPlace]))
    callOf.delete(id)
    entriesOf.delete(id)
    const written = own.map((row) => writeRow(entries, row)).join(',')
    const recorded = call ? writeRow(calls, call) : 'null'
    return `{"hold":${writeRow(holds, hold)},"call":${recorded},"entries":[${written}]}`
  })
  if (callOf.size > 0 || entriesOf.size > 0) throw damaged('a row belongs to no hold')
  return lines
}

function writeRow({ columns }: Table, row: readonly (string | null)[]): string {
  const members = columns.map(([name, type], index) => {
    const value = row[index]
    if (value === undefined) throw damaged('a row is too short')
    return `"${name}":${value === null ? 'null' : writeValue(name, type, value)}`
  })
  return `{${members.join(',')}}`
}

/** Versions of prices are small; other numbers of this type are ids and nano-units. */
const SMALL: ReadonlySet<string> = new Set(['price_version', 'upstream_cost_version'])

function writeValue(name: string, type: string, value: string): string {
  if (type === 'json' || type === 'jsonb' || type === 'integer' || type === 'smallint') return value
  if (type === 'bigint' && SMALL.has(name)) return value
  if (type === 'boolean') return value === 't' ? 'true' : 'false'
  if (type === 'bigint[]') return `[${value.slice(1, -1).replaceAll('NULL', 'null')}]`
  if (type === 'timestamp with time zone') return `"${value.replace(' ', 'T')}:00"`
  return JSON.stringify(value)
}

const damaged = (why: string) => new OperatorError(`an object of the archive is damaged: ${why}`)
