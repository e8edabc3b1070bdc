/** Rows of a range of keys, as COPY sends them. */
import { finished } from 'node:stream/promises'
import type { TransactionSql } from 'postgres'
import { type OnRow, takeRows } from '../connection/copied-rows.ts'
import { readCopied } from '../connection/read-copied.ts'
import type { TableShape } from './backup-store.ts'

/** Keys that need no quoting: COPY takes no parameters. */
const PLAIN = /^\w+$/

export interface KeyRange {
  /** A column of text. */
  readonly key: string
  readonly after: string
  readonly upto: string
}

/**
 * Passes on each row with after < key <= upto in COPY's text format, in the order of the keys:
 * PostgreSQL sends every row by itself. Rejects keys with other characters than ids have.
 */
export async function copyRange(
  transaction: TransactionSql,
  { name, columns }: TableShape,
  { key, after, upto }: KeyRange,
  onRow: OnRow,
): Promise<void> {
  if (!PLAIN.test(after) || !PLAIN.test(upto)) throw new Error('a key has other characters')
  const names = columns.map((column) => `"${column}"`).join(', ')
  const stop = takeRows(transaction, onRow)
  try {
    const rows = await readCopied(
      transaction.unsafe(
        `copy (select ${names} from "${name}" where "${key}" > '${after}' and "${key}" <= '${upto}'
          order by "${key}") to stdout`,
      ),
    )
    // Rows that were not taken. Events cost half of what an iterator does, which waits for each.
    rows.on('data', (row: Buffer) => onRow(row, 0, row.length))
    await finished(rows)
    // See copyOut: the client may have left its socket paused.
    rows._read(0)
  } finally {
    stop()
  }
}
