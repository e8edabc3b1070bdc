/** The columns of a row that a schema declares. */
import type { PendingQuery, Row, Sql } from 'postgres'

/**
 * Returns the list of a select: each member of the row is a column of `table`, unless `others` has
 * an expression for it.
 */
export function columnsOf(
  sql: Sql,
  members: Readonly<Record<string, unknown>>,
  table: string,
  others: Readonly<Record<string, PendingQuery<Row[]>>> = {},
) {
  return Object.keys(members).map((name, index) => {
    const column = others[name] ?? sql`${sql(`${table}.${name}`)}`
    return sql`${index > 0 ? sql`,` : sql``} ${column} as ${sql(name)}`
  })
}
