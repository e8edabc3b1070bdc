/** Prints the comparison of a restored database with its backup. */
import type {
  ComparedSum,
  ComparedTable,
  Comparison,
} from '../../server/base/database/backup/compare.ts'
import { formatAmount } from '../../server/base/lib/money.ts'
import type { AuditResult } from '../../server/money/ledger/audit/audit.ts'
import { printTable } from './print.ts'

/** The first digits of a digest, enough to recognise equal ones. */
const DIGEST_SHOWN = 16

/** Prints every table with rows, the sums of money, and everything that was not compared. */
export function printComparison(comparison: Comparison): void {
  const { tables, sums, newerTables, newerMigrations } = comparison
  const listed = tables.filter(
    ({ backup, database, same }) => !same || backup.rows + rowsOf(database),
  )
  console.log('Compared with the backup: every row of every table, in any order.')
  printTable(
    listed,
    [
      { title: 'table', cell: ({ name }) => name },
      { title: 'rows', cell: ({ backup }) => backup.rows, right: true },
      { title: 'in the database', cell: (table) => describeRows(table), right: true },
      { title: 'sum of sha-256', cell: ({ backup }) => backup.digest.slice(0, DIGEST_SHOWN) },
      { title: '', cell: ({ same }) => (same ? 'same' : 'DIFFERENT') },
    ],
    'The backup has no rows.',
  )
  const rows = tables.reduce((sum, { backup }) => sum + backup.rows, 0)
  const empty = tables.length - listed.length
  console.log(`${tables.length} tables, ${rows} rows; ${empty} tables are empty in both.`)
  printSums(sums)
  if (newerTables.length > 0) {
    console.log(`Not compared, unknown to the backup: ${newerTables.join(', ')}.`)
  }
  if (newerMigrations.length > 0) {
    const list = newerMigrations.join(', ')
    console.log(`Applied since the backup, and may have changed rows: ${list}.`)
  }
  console.log(
    comparison.same ? 'Everything is the same.' : 'The database is NOT what was backed up.',
  )
}

function printSums(sums: readonly ComparedSum[]): void {
  if (sums.length === 0) return
  console.log('Sums of money, from the files and by PostgreSQL:')
  printTable(
    sums,
    [
      { title: 'sum', cell: ({ table, column }) => `${table}.${column}` },
      { title: 'currency', cell: ({ currency }) => currency ?? 'any' },
      { title: 'backup', cell: ({ backup }) => formatAmount(backup), right: true },
      { title: 'database', cell: ({ database }) => formatAmount(database), right: true },
      { title: '', cell: ({ same }) => (same ? 'same' : 'DIFFERENT') },
    ],
    '',
  )
}

function rowsOf(set: ComparedTable['database']): number {
  return set?.rows ?? 0
}

function describeRows({ database }: ComparedTable): string | number {
  return database === null ? 'no such table' : database.rows
}

/** Returns the comparison for scripts. Sums are decimal strings. */
export function describeComparison(comparison: Comparison): object {
  const { same, tables, sums, newerTables, newerMigrations } = comparison
  return {
    same,
    rows: tables.reduce((sum, { backup }) => sum + backup.rows, 0),
    tables,
    sums,
    newer_tables: newerTables,
    newer_migrations: newerMigrations,
  }
}

/** Prints one line for a clean audit, otherwise one for each broken invariant. */
export function printAudit({ ok, checks }: AuditResult): void {
  for (const { id, title } of checks.filter((check) => !check.ok)) {
    console.log(`audit: ${id} BROKEN: ${title}`)
  }
  if (ok) console.log(`The audit is clean: ${checks.map(({ id }) => id).join(', ')}.`)
}
