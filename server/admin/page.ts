/** Pages of a list: reads one row more than requested to find out whether another page follows. */

export function toPage<Row, Shown>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => string,
  show: (row: Row) => Shown,
): { readonly data: Shown[]; readonly next_cursor: string | null } {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const more = rows.length > limit && last !== undefined
  return { data: shown.map(show), next_cursor: more ? cursorOf(last) : null }
}
