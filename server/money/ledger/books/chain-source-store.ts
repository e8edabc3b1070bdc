/** Reads the chain and the entries of a database from one snapshot. */
import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres'
import { withSnapshot } from '../../../base/database/backup/backup-store.ts'
import { cutRows } from '../../../base/database/backup/copy-text.ts'
import { readCopied } from '../../../base/database/connection/read-copied.ts'
import {
  type ArchivedObject,
  type ChainSource,
  type ReadArchived,
  refuseArchived,
} from './chain-source.ts'
import { BLOCK_COLUMNS, ENTRY_COLUMNS, readBlocks, readEntries } from './read-rows.ts'

/**
 * Reads plain rows, without relying on any function of the database; archived entries come from
 * their objects.
 */
export function withDatabaseChain<T>(
  sql: Sql,
  work: (source: ChainSource) => Promise<T>,
  readArchived: ReadArchived = refuseArchived,
): Promise<T> {
  return withSnapshot(sql, (view) =>
    work({
      blocks: () => readBlocks(copyBlocks(view), BLOCK_COLUMNS),
      entries: () => readAll(view, readArchived),
    }),
  )
}

async function* readAll(view: TransactionSql, readArchived: ReadArchived) {
  yield* readEntries(copyEntries(view), ENTRY_COLUMNS)
  yield* readArchived(
    await view<ArchivedObject[]>`
      select storage_key, sha256, content_sha256 from archive_object order by month, first_id`,
  )
}

function copyBlocks(view: TransactionSql): AsyncGenerator<string> {
  return readLines(view`
    copy (select number, previous, after_id, upto_id, entries, entries_total, root, marks, totals,
      sealed_at, hash from ledger_block order by number) to stdout`)
}

function copyEntries(view: TransactionSql): AsyncGenerator<string> {
  return readLines(view`
    copy (select id, posting, step, account_id, currency, source, destination, amount, at
      from entry order by id) to stdout`)
}

async function* readLines(query: PendingQuery<Row[]>): AsyncGenerator<string> {
  const rows = await readCopied(query)
  for await (const line of cutRows(rows)) yield line.toString()
  // Resumes the socket, which the client leaves paused if the last rows arrived together.
  rows._read(0)
}
