/**
 * Compares a backup with a database: the rows of every table, regardless of order, their number,
 * and the sums of all money columns.
 */
import { createReadStream } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Sql, TransactionSql } from 'postgres'
import { connect } from '../connection/client.ts'
import type { DatabasePlace } from '../connection/open-client.ts'
import { readApplied } from '../migrations/migration-store.ts'
import { type BackupTable, type Manifest, tableFile } from './backup-manifest.ts'
import { copyOut, listTables, sumMoney, type TableShape, withSnapshot } from './backup-store.ts'
import { cutRows, readCopyLine } from './copy-text.ts'
import { createSumMeter, type MoneySum } from './money-sums.ts'
import { readBackup } from './read-backup.ts'
import { createRowSetMeter, type RowSet } from './row-set.ts'

export interface ComparedTable {
  readonly name: string
  readonly backup: RowSet
  /** Null if the database lacks the table or some of its columns. */
  readonly database: RowSet | null
  readonly same: boolean
}

export interface ComparedSum {
  readonly table: string
  readonly column: string
  readonly currency: string | null
  readonly backup: bigint
  readonly database: bigint
  readonly same: boolean
}

export interface Comparison {
  readonly same: boolean
  readonly tables: readonly ComparedTable[]
  readonly sums: readonly ComparedSum[]
  /** Tables and migrations that the backup does not have; they were not compared. */
  readonly newerTables: readonly string[]
  readonly newerMigrations: readonly string[]
}

export interface TableContent {
  readonly set: RowSet
  readonly sums: readonly MoneySum[]
}

/**
 * Yields the rows of a table in a backup and measures them. Returns the measurement after the last
 * row.
 */
export async function* readRows(
  from: string,
  table: BackupTable,
): AsyncGenerator<{ readonly fields: (string | null)[]; readonly bytes: number }, TableContent> {
  const set = createRowSetMeter()
  const sums = createSumMeter(table.name, table.columns)
  for await (const row of cutRows(createReadStream(join(from, tableFile(table.name))))) {
    set.add(row)
    const fields = readCopyLine(row.toString('utf8'))
    sums.add(fields)
    yield { fields, bytes: row.length }
  }
  return { set: set.read(), sums: sums.read() }
}

/** Measures the same columns of a table in the database. */
export async function measureTable(
  transaction: TransactionSql,
  table: Pick<TableShape, 'name' | 'columns'>,
): Promise<TableContent> {
  const set = createRowSetMeter()
  for await (const row of cutRows(copyOut(transaction, table))) set.add(row)
  return { set: set.read(), sums: await sumMoney(transaction, table) }
}

/**
 * Compares a table of the backup with the database's; `database` is null if the table is absent.
 */
export function compareTable(
  name: string,
  backup: TableContent,
  database: TableContent | null,
): { readonly table: ComparedTable; readonly sums: readonly ComparedSum[] } {
  const found = database?.set ?? null
  const same = found?.rows === backup.set.rows && found.digest === backup.set.digest
  return {
    table: { name, backup: backup.set, database: found, same },
    sums: compareSums(backup.sums, database?.sums ?? []),
  }
}

function compareSums(backup: readonly MoneySum[], database: readonly MoneySum[]): ComparedSum[] {
  const key = ({ table, column, currency }: MoneySum) => `${table}.${column} ${currency ?? ''}`
  const stated = new Map(backup.map((sum) => [key(sum), sum]))
  const found = new Map(database.map((sum) => [key(sum), sum]))
  return [...new Map([...stated, ...found])].map(([name, { table, column, currency }]) => {
    const before = stated.get(name)?.nanos ?? 0n
    const now = found.get(name)?.nanos ?? 0n
    return { table, column, currency, backup: before, database: now, same: before === now }
  })
}

/** Combines the comparisons of all tables. */
export function summariseComparison(
  parts: readonly ReturnType<typeof compareTable>[],
  newer: Pick<Comparison, 'newerTables' | 'newerMigrations'>,
): Comparison {
  const tables = parts.map(({ table }) => table)
  const sums = parts.flatMap((part) => part.sums)
  return { same: [...tables, ...sums].every(({ same }) => same), tables, sums, ...newer }
}

/**
 * Tables that change even if nobody uses the gateway: with each command that is run, including the
 * backup itself, and with the leases of gateways.
 */
const RESTLESS = new Set(['command_run', 'owner'])

/**
 * Compares with one snapshot and changes nothing. `manifest` and the files under `from` must have
 * been checked. Returns undefined for a database without tables.
 */
export function compareWithBackup(
  sql: Sql,
  manifest: Manifest,
  from: string,
): Promise<Comparison | undefined> {
  return withSnapshot(sql, async (view) => {
    const shapes = new Map((await listTables(view)).map((shape) => [shape.name, shape]))
    if (shapes.size === 0) return undefined
    const parts: ReturnType<typeof compareTable>[] = []
    for (const table of manifest.tables) {
      if (RESTLESS.has(table.name)) continue
      const shape = shapes.get(table.name)
      const exists = table.columns.every((column) => shape?.columns.includes(column))
      const backup = await measureRows(from, table)
      parts.push(compareTable(table.name, backup, exists ? await measureTable(view, table) : null))
    }
    const known = new Set(manifest.tables.map(({ name }) => name))
    const applied = new Set(manifest.migrations.map(({ name }) => name))
    return summariseComparison(parts, {
      newerTables: [...shapes.keys()].filter((name) => !known.has(name)),
      newerMigrations: [...(await readApplied(view)).keys()].filter((name) => !applied.has(name)),
    })
  })
}

async function measureRows(from: string, table: BackupTable): Promise<TableContent> {
  const rows = readRows(from, table)
  for (;;) {
    const next = await rows.next()
    if (next.done) return next.value
  }
}

/**
 * Checks a backup and compares it with the database at `place`. Returns no comparison if the
 * database is empty. Throws DatabaseProblem if the backup is damaged.
 */
export async function verifyBackup(
  place: DatabasePlace,
  folder: string,
): Promise<{ readonly manifest: Manifest; readonly compared: Comparison | undefined }> {
  const from = resolve(folder)
  const manifest = await readBackup(from)
  const sql = connect(place, {
    connections: 1,
    statementTimeoutMs: 0,
    patient: true,
    name: 'tributary verify',
  })
  try {
    return { manifest, compared: await compareWithBackup(sql, manifest, from) }
  } finally {
    await sql.end({ timeout: 1 })
  }
}
