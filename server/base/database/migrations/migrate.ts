/** Applies plain SQL migrations, each once, then files of functions, whenever they change. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql, TransactionSql } from 'postgres'
import { DatabaseProblem } from '../problem.ts'
import { isLocked, readErrorCode } from '../unavailable.ts'
import { applyFunctionFiles, findChangedFiles, readFunctionFiles } from './function-files.ts'
import type { FunctionFile } from './function-store.ts'
import {
  type AppliedMigration,
  applyMigration,
  BRIEF_MS,
  endAutovacuums,
  findOldestSession,
  limitWaits,
  type Migration,
  type OldestSession,
  OUTLASTING_MS,
  readCompatible,
  readOldestCompatible,
  withMigrationLock,
} from './migration-store.ts'

const FILE_NAME = /^\d{4}-[a-z0-9-]+\.sql$/
/** The line of a migration after which older gateways no longer work. */
const OLDEST_COMPATIBLE = /^-- oldest compatible schema: (\d{4})$/m

/** Returns the migrations in a folder, ordered by number. */
export function readMigrations(folder: string): Migration[] {
  return readdirSync(folder)
    .filter((name) => FILE_NAME.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      const sha256 = createHash('sha256').update(text).digest('hex')
      return { name, text, sha256, oldestCompatible: OLDEST_COMPATIBLE.exec(text)?.[1] ?? null }
    })
}

/** The outcome of a migration. */
export interface Migrated {
  /** Names of migrations. */
  readonly applied: readonly string[]
  /** Names of files of functions. */
  readonly functions: readonly string[]
  /** Migrations of a newer version, with which this one is compatible. */
  readonly newer: readonly string[]
}

export interface MigrateOptions {
  /** Receives what the migration waits for, in words. */
  readonly onWaiting?: (message: string) => void
  /** The longest wait for tables that other sessions use. */
  readonly lockedMsMax?: number
}

/** The pause between two attempts, in which calls run as if there were no migration. */
const PAUSE_MS = 1_000
const TELL_EVERY_MS = 10_000
const LOCKED_MS_MAX = 600_000

/**
 * Applies all missing migrations of a folder, then the changed functions of the server beside it.
 * Concurrent migrators are safe: each step takes a lock and checks again. Throws if an applied
 * migration has changed, or if the database is newer than the code and not compatible with it.
 */
export async function migrate(
  sql: Sql,
  folder: string,
  options: MigrateOptions = {},
): Promise<Migrated> {
  const migrations = readMigrations(folder)
  const functions = readFunctionFiles(join(folder, '..', 'server'))
  const applied: string[] = []
  const tell = limitMessages(options.onWaiting)
  for (;;) {
    const step = await retryLocked(sql, { ...options, onWaiting: tell }, (waitMs) =>
      withMigrationLock(
        sql,
        (transaction) => applyNext(transaction, migrations, functions, waitMs),
        () => tell('waiting for another process that migrates this database'),
      ),
    )
    const { functions: changed, newer } = step
    if (step.applied === undefined) return { applied, functions: changed, newer }
    applied.push(step.applied)
  }
}

/** Returns a function that passes on a message unless it passed one on within ten seconds. */
function limitMessages(onWaiting: MigrateOptions['onWaiting']): (message: string) => void {
  let lastAt = Number.NEGATIVE_INFINITY
  return (message) => {
    const now = performance.now()
    if (now - lastAt <= TELL_EVERY_MS) return
    lastAt = now
    onWaiting?.(message)
  }
}

/**
 * Repeats `step` while another session uses a table that it changes, such as a backup that reads
 * it. It never queues for long for such a table, because all calls would wait behind it. Between
 * two attempts it pauses for at least as long as the attempt took, since a long attempt loads the
 * database. If only calls are in its way, it waits longer than they wait for tables that it has
 * locked: otherwise they would win each time.
 */
async function retryLocked<T>(
  sql: Sql,
  { onWaiting, lockedMsMax = LOCKED_MS_MAX }: MigrateOptions,
  step: (waitMs: number) => Promise<T>,
): Promise<T> {
  const start = performance.now()
  let waitMs = BRIEF_MS
  for (;;) {
    const attemptAt = performance.now()
    try {
      return await step(waitMs)
    } catch (error) {
      if (!isLocked(error)) throw error
      const now = performance.now()
      const oldest = await findOldestSession(sql)
      if (now - start >= lockedMsMax) throw explainLocked(oldest, error)
      onWaiting?.(`waiting to change tables that are in use: ${describe(oldest)}`)
      waitMs = oldest?.is_long ? BRIEF_MS : OUTLASTING_MS
      await sleep(Math.max(PAUSE_MS, now - attemptAt))
    }
  }
}

function describe(oldest: OldestSession | undefined): string {
  if (!oldest) return 'another session of the database holds them'
  const { pid, name, since } = oldest
  return `process ${pid} of the database (${name}) has a transaction since ${since.toISOString()}`
}

function explainLocked(oldest: OldestSession | undefined, cause: unknown): DatabaseProblem {
  return new DatabaseProblem(
    `the tables could not be changed in time: ${describe(oldest)}. Wait until it ` +
      'ends, or end it with pg_terminate_backend, and start again',
    cause,
  )
}

/**
 * Applies the next migration or, when all are applied, the functions. A database with newer
 * migrations has the functions of a newer version, too.
 */
async function applyNext(
  transaction: TransactionSql,
  migrations: readonly Migration[],
  functions: readonly FunctionFile[],
  waitMs: number,
) {
  await limitWaits(transaction, waitMs)
  const applied = await readCompatible(transaction)
  refuseChanged(migrations, applied)
  const newer = findNewer(migrations, applied)
  const names = new Set(applied.map(({ name }) => name))
  const next = migrations.find(({ name }) => !names.has(name))
  if (next && newer.length > 0) throw unknownMigration(newer[0] ?? '')
  if (next) {
    await endAutovacuums(transaction, waitMs)
    await applyMigration(transaction, next).catch(explainForeign)
    return { applied: next.name, functions: [], newer }
  }
  const changed = newer.length > 0 ? [] : await findChangedFiles(transaction, functions)
  // Their triggers are on tables as well.
  if (changed.length > 0) await endAutovacuums(transaction, waitMs)
  return { applied: undefined, functions: await applyFunctionFiles(transaction, changed), newer }
}

function refuseChanged(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): void {
  const known = new Map(migrations.map(({ name, sha256 }) => [name, sha256]))
  for (const { name, sha256 } of applied) {
    const own = known.get(name)
    if (own !== undefined && own !== sha256) {
      throw new DatabaseProblem(
        `${name} was changed after it was applied: restore its original text, or start the ` +
          'version that made this database',
      )
    }
  }
}

/** Returns the names of applied migrations of a newer version. Throws if it is not compatible. */
function findNewer(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly string[] {
  const known = new Set(migrations.map(({ name }) => name))
  const newest = migrations.at(-1)?.name ?? ''
  const newer: string[] = []
  for (const { name, oldest_compatible: oldest } of applied) {
    if (known.has(name)) continue
    const problem = explainHistory(name, migrations)
    if (problem) throw new DatabaseProblem(`the database ${problem}`)
    if (oldest !== null && oldest > numberOf(newest)) {
      throw new DatabaseProblem(
        `the database is newer than this version: it has ${name}, which works with schema ` +
          `${oldest} and newer; this version has ${numberOf(newest)}. Start a newer version`,
      )
    }
    newer.push(name)
  }
  return newer
}

/**
 * Returns the message about an unknown migration that is not newer than this version, in a database
 * or a backup: versions only append migrations, so the histories differ.
 */
export function explainHistory(name: string, migrations: readonly Migration[]): string | undefined {
  if (name > (migrations.at(-1)?.name ?? '')) return undefined
  return (
    `has ${name}, which is not in the history of this version: it was made before 0.2.0, or by ` +
    'a changed copy of the program, and no version upgrades it. Keep using the program that ' +
    'made it, or move its catalog, accounts and keys into a new database: "Data from before ' +
    '0.2.0" in docs/guides/backup-and-restore.md'
  )
}

/** SQLSTATEs of tables, types, functions and constraints that exist already. */
const EXISTS_ALREADY = ['42P07', '42710', '42723']

function explainForeign(error: unknown): never {
  if (!EXISTS_ALREADY.includes(readErrorCode(error))) throw error
  const what = error instanceof Error ? error.message : String(error)
  throw new DatabaseProblem(
    `the database has tables that no version of Tributary made (${what}): use an empty one`,
    error,
  )
}

function unknownMigration(name: string): DatabaseProblem {
  return new DatabaseProblem(
    `the database has ${name}, which this version lacks. Start the version that made it`,
  )
}

function numberOf(name: string): string {
  return name.slice(0, 4)
}

/**
 * Returns a function that resolves with the reason why gateways of this version no longer work on
 * the database, or undefined.
 */
export function watchCompatibility(sql: Sql, folder: string): () => Promise<string | undefined> {
  const newest = numberOf(readMigrations(folder).at(-1)?.name ?? '')
  return async () => {
    const oldest = await readOldestCompatible(sql)
    if (oldest === undefined || oldest <= newest) return undefined
    return `the database works with schema ${oldest} and newer, this version has ${newest}`
  }
}
