/** SQL of the migrator. */
import type { Sql, TransactionSql } from 'postgres'
import { withTransaction } from '../transaction.ts'
import { isLocked, readErrorCode } from '../unavailable.ts'

export interface Migration {
  readonly name: string
  readonly text: string
  readonly sha256: string
  /** The number of the oldest schema whose gateways work on the migrated database, if it rises. */
  readonly oldestCompatible: string | null
}

export interface AppliedMigration {
  readonly name: string
  readonly sha256: string
  readonly oldest_compatible: string | null
}

const MIGRATION_LOCK = 7_214_085_622
/** All later statements wait behind one that waits for a table; calls give up after 300 ms. */
export const BRIEF_MS = 200
/**
 * Longer than a call, which holds a table that the migration needs, waits for one that the
 * migration holds.
 */
export const OUTLASTING_MS = 1_000
/** A transaction that is older than this is not that of a call. */
const LONG = '3 seconds'
/** An autovacuum ends once another session has waited for `deadlock_timeout`, which is short. */
const VACUUM_ENDS_MS = 500
const BUSY_MS = 1_000
const UNDEFINED_TABLE = '42P01'

/**
 * Runs `step` in a transaction under the migration lock, without a statement timeout. Retries if a
 * migration loses a deadlock to a running gateway. Calls `onBusy` if it waits long for the lock.
 */
export async function withMigrationLock<T>(
  sql: Sql,
  step: (transaction: TransactionSql) => Promise<T>,
  onBusy: () => void = () => undefined,
): Promise<T> {
  return await withTransaction(sql, async (transaction) => {
    await transaction`set local statement_timeout = 0`
    const [row] = await transaction<{ is_free: boolean }[]>`
      select pg_try_advisory_xact_lock(${MIGRATION_LOCK}::bigint) as is_free`
    if (!row?.is_free) {
      const timer = setTimeout(onBusy, BUSY_MS)
      await transaction`select pg_advisory_xact_lock(${MIGRATION_LOCK}::bigint)`.finally(() =>
        clearTimeout(timer),
      )
    }
    await createMigrationTable(transaction)
    return await step(transaction)
  })
}

/** Makes later statements of this transaction fail with lock_not_available after a wait. */
export async function limitWaits(transaction: TransactionSql, ms: number): Promise<void> {
  await transaction`select set_config('lock_timeout', ${`${ms}ms`}, true)`
}

/**
 * Ends the autovacuums of the schema's tables and keeps them away until the end of the transaction:
 * they do not give way to a session that waits only briefly. Neither reads nor writes wait behind
 * this lock. An autovacuum that must not end (against wraparound) is left alone.
 */
export async function endAutovacuums(transaction: TransactionSql, waitMs: number): Promise<void> {
  const tables = await transaction<{ name: string }[]>`
    select distinct format('%I.%I', n.nspname, c.relname) as name
    from pg_locks l
    join pg_stat_activity a on a.pid = l.pid and a.datid = l.database and a.usesysid is null
    join pg_class c on c.oid = l.relation and c.relkind in ('r', 'm')
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = current_schema()
    where l.mode = 'ShareUpdateExclusiveLock' and a.datname = current_database()
      and has_table_privilege(c.oid, 'update')
    order by 1`
  for (const { name } of tables) {
    await transaction
      .savepoint(async (savepoint) => {
        await savepoint`
          select set_config('lock_timeout', (${VACUUM_ENDS_MS}::int + 1000
            * extract(epoch from current_setting('deadlock_timeout')::interval))::int::text, true)`
        await savepoint.unsafe(`lock table ${name} in share update exclusive mode`)
      })
      .catch((error: unknown) => {
        if (!isLocked(error) && readErrorCode(error) !== UNDEFINED_TABLE) throw error
      })
  }
  await limitWaits(transaction, waitMs)
}

export interface OldestSession {
  readonly pid: number
  readonly name: string
  readonly since: Date
  /** This is longer than the transaction of any call. */
  readonly is_long: boolean
}

/**
 * Returns the session whose transaction has been open longest, of those that use a table of the
 * schema and that the role may see.
 */
export async function findOldestSession(sql: Sql): Promise<OldestSession | undefined> {
  const [row] = await sql<OldestSession[]>`
    select pid, coalesce(nullif(application_name, ''), backend_type) as name, xact_start as since,
      xact_start < now() - ${LONG}::interval as is_long
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
      and pid in (
        select l.pid from pg_locks l
        join pg_class c on c.oid = l.relation
        join pg_namespace n on n.oid = c.relnamespace and n.nspname = current_schema()
        where l.granted)
    order by xact_start limit 1`
  return row
}

export async function createMigrationTable(transaction: TransactionSql): Promise<void> {
  const [found] = await transaction<{ columns: number }[]>`
    select count(*)::int as columns from pg_attribute
    where attrelid = to_regclass('schema_migration')
      and attname in ('name', 'oldest_compatible')`
  if (found?.columns === 2) return
  await transaction`
    create table if not exists schema_migration (
      name text primary key,
      sha256 text not null,
      applied_at timestamptz not null default now())`
  await transaction`
    alter table schema_migration add column if not exists oldest_compatible text
      check (oldest_compatible ~ '^[0-9]{4}$')`
}

/** Returns the applied migrations of any version's database: name to SHA-256. */
export async function readApplied(
  transaction: TransactionSql,
): Promise<ReadonlyMap<string, string>> {
  const rows = await transaction<{ name: string; sha256: string }[]>`
    select name, sha256 from schema_migration order by name`
  return new Map(rows.map((row) => [row.name, row.sha256]))
}

/** Returns the applied migrations with what they are compatible with, ordered by number. */
export async function readCompatible(transaction: TransactionSql): Promise<AppliedMigration[]> {
  return await transaction<AppliedMigration[]>`
    select name, sha256, oldest_compatible from schema_migration order by name`
}

/** Applies a migration and records it: both are committed, or neither. */
export async function applyMigration(
  transaction: TransactionSql,
  { name, text, sha256, oldestCompatible }: Migration,
): Promise<void> {
  await transaction.unsafe(text)
  await transaction`
    insert into schema_migration (name, sha256, oldest_compatible)
    values (${name}, ${sha256}, ${oldestCompatible})`
}

/** Returns the number of the oldest schema whose gateways work on this database, if any is set. */
export async function readOldestCompatible(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ oldest: string | null }[]>`
    select max(oldest_compatible) as oldest from schema_migration`
  return row?.oldest ?? undefined
}
