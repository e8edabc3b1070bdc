/**
 * Calls SQL functions by statements with a constant text. The client's tagged templates would build
 * each text anew, from one query object per fragment.
 */
import type { Row, Sql, TransactionSql } from 'postgres'

/** The declared parameters of a function, as casts. JSON and times are sent as text. */
const CASTS = {
  text: 'text',
  texts: 'text[]',
  bigint: 'bigint',
  bigints: 'bigint[]',
  boolean: 'boolean',
  booleans: 'boolean[]',
  json: 'text::jsonb',
  time: 'text::timestamptz',
} as const

export interface SqlFunction {
  readonly name: string
  readonly parameters: readonly (keyof typeof CASTS)[]
}

export interface FunctionCall {
  readonly of: SqlFunction
  /** One for each parameter. */
  readonly values: readonly unknown[]
}

/** Declares a function by its name and the types of its parameters, separated by spaces. */
export function sqlFunction(name: string, parameters: string): SqlFunction {
  return { name, parameters: parameters.split(/\s+/) as SqlFunction['parameters'] }
}

const NOTHING: readonly never[] = []

const texts = new Map<string, string>()

/**
 * Calls one function, or two in this order, in one statement. Returns the results as `first` and
 * `second`.
 */
export async function callFunctions(
  sql: Sql | TransactionSql,
  first: FunctionCall,
  second?: FunctionCall,
): Promise<Row> {
  const name = second ? `${first.of.name} ${second.of.name}` : first.of.name
  let text = texts.get(name)
  if (text === undefined) {
    text = writeText(first.of, second?.of)
    texts.set(name, text)
  }
  const values = second ? [...first.values, ...second.values] : first.values
  const query = sql.unsafe(text, values as never[], { prepare: true })
  const rows = await query
  const [row] = rows
  clear(query, rows)
  if (!row) throw new Error('a function returned no row')
  return row
}

/**
 * Empties a statement that has succeeded. Functions that the engine allocates in the old generation
 * refer to the client's query, so each query would outlive its call by many minor collections, with
 * everything it has sent and received.
 */
function clear(query: object, rows: unknown[]): void {
  Object.assign(query, { args: NOTHING, parameters: NOTHING })
  rows.length = 0
}

function writeText(first: SqlFunction, second: SqlFunction | undefined): string {
  if (!second) return `select ${writeCall(first, 0)} as first`
  return (
    `with called as materialized (select ${writeCall(first, 0)} as first) ` +
    `select first, ${writeCall(second, first.parameters.length)} as second from called`
  )
}

function writeCall({ name, parameters }: SqlFunction, offset: number): string {
  const sent = parameters.map((type, index) => `$${offset + index + 1}::${CASTS[type]}`)
  return `${name}(${sent.join(', ')})`
}
