/** Pages of a list. One row more than asked for is read, to tell whether another page follows. */

/** Returns the page; its cursor is a member of its last row, or made of it. */
export function toPage<Row extends object>(
  rows: readonly Row[],
  limit: number,
  cursor: (keyof Row & string) | ((row: Row) => string),
): { readonly data: readonly Row[]; readonly next_cursor: string | null } {
  const data = rows.slice(0, limit)
  const last = rows.length > limit ? data.at(-1) : undefined
  if (last === undefined) return { data, next_cursor: null }
  return { data, next_cursor: typeof cursor === 'function' ? cursor(last) : String(last[cursor]) }
}
