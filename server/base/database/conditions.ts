/** Conditions of lists: by members of a query, by a span of time, and by the page before. */
import type { Sql } from 'postgres'

/**
 * Narrows to rows whose columns equal the values of a query. A value that is unset or empty does
 * not filter, so never use this for the condition that binds rows to their owner.
 */
export function equal(sql: Sql, values: Readonly<Record<string, string | boolean | undefined>>) {
  const set = Object.entries(values).filter(([, value]) => value !== undefined && value !== '')
  if (set.length === 0) return sql``
  return set.map(([column, value]) => sql`and ${sql(column)} = ${value as string}`)
}

/** Narrows to rows whose column lies at or after `from` and before `to`. */
export function during(
  sql: Sql,
  column: string,
  { from, to }: { readonly from?: Date | undefined; readonly to?: Date | undefined },
) {
  return sql`
    ${from ? sql`and ${sql(column)} >= ${from}` : sql``}
    ${to ? sql`and ${sql(column)} < ${to}` : sql``}`
}

interface Listed {
  /** The table's name in the query. */
  readonly alias?: string
  /** The column of ids. */
  readonly id?: string
  /**
   * The account whose rows are listed: with an id of another account as the cursor, the page is
   * empty.
   */
  readonly accountId?: string | undefined
}

/**
 * Narrows `table`, listed by creation with the newest first, to the rows after the cursor, which is
 * the last id of the previous page.
 */
export function behind(
  sql: Sql,
  table: string,
  cursor: string | undefined,
  { alias = table, id = 'id', accountId }: Listed = {},
) {
  if (!cursor) return sql``
  return sql`and (${sql(`${alias}.created_at`)}, ${sql(`${alias}.${id}`)}) < (
    select p.created_at, ${sql(`p.${id}`)} from ${sql(table)} p
    where ${sql(`p.${id}`)} = ${cursor}
      ${accountId === undefined ? sql`` : sql`and p.account_id = ${accountId}`})`
}

/** Narrows to rows that contain the text in one of the columns, in any case. */
export function mentioning(sql: Sql, columns: readonly string[], text: string | undefined) {
  if (!text) return sql``
  const pattern = containing(text)
  return sql`and (false ${columns.map((name) => sql`or ${sql(name)} ilike ${pattern}`)})`
}

/** Returns the pattern of `ilike` for texts that contain this one. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}
