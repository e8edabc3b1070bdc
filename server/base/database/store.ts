/** Statements about the database itself. */
import type { Sql } from 'postgres'
import { readErrorCode } from './unavailable.ts'

export interface ServerRow {
  /** For example 180004. */
  readonly version: number
  readonly fsync: string
  readonly commit: string
  readonly pages: string
  readonly is_replica: boolean
  readonly is_read_only: boolean
  readonly encoding: string
  /** The order of texts compares digits in them as numbers, so that "9" is before "10". */
  readonly orders_numbers: boolean
  readonly role: string
  readonly schema: string | null
  readonly may_create: boolean
  /** Null in an empty database. */
  readonly may_write: boolean | null
  /** True if there is row-level security without a policy, so that the role sees no rows. */
  readonly hides_rows: boolean
  readonly replication_role: string
  readonly max_connections: number
  /** Connections that are reserved for superusers and the like. */
  readonly reserved_connections: number
  /** Limits of the role and of the database; -1 without one. */
  readonly role_connections: number
  readonly database_connections: number
  /** Servers that copy this one now, base backups included. */
  readonly replicas: number
  readonly sync_standbys: string
  readonly autovacuum: string
  /** Without these statistics, autovacuum does not find the tables that need it. */
  readonly track_counts: string
}

/**
 * Returns the server's version, the settings that durability and capacity depend on, and what the
 * role may do.
 */
export async function readServer(sql: Sql): Promise<ServerRow> {
  const [row] = await sql<[ServerRow]>`
    select current_setting('server_version_num')::int as version,
      current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
      current_setting('full_page_writes') as pages,
      pg_is_in_recovery() as is_replica,
      current_setting('transaction_read_only') = 'on' as is_read_only,
      current_setting('server_encoding') as encoding, '9'::text < '10'::text as orders_numbers,
      current_user::text as role,
      current_schema()::text as schema,
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create,
      case when to_regclass('balance') is not null then
        has_table_privilege('balance', 'select') and has_table_privilege('balance', 'update')
        and has_table_privilege('entry', 'insert') end as may_write,
      case when to_regclass('balance') is null then false else row_security_active('balance')
        and not exists (select from pg_policy where polrelid = to_regclass('balance'))
      end as hides_rows,
      current_setting('session_replication_role') as replication_role,
      current_setting('max_connections')::int as max_connections,
      current_setting('superuser_reserved_connections')::int
        + coalesce(current_setting('reserved_connections', true)::int, 0) as reserved_connections,
      (select rolconnlimit from pg_roles where rolname = current_user) as role_connections,
      (select datconnlimit from pg_database where datname = current_database())
        as database_connections,
      (select count(*)::int from pg_stat_replication) as replicas,
      current_setting('synchronous_standby_names') as sync_standbys,
      current_setting('autovacuum') as autovacuum,
      current_setting('track_counts') as track_counts`
  return row
}

/** Returns the time in milliseconds by which the local clock is ahead of the database's. */
export async function readClockSkew(sql: Sql): Promise<number> {
  const start = Date.now()
  const [row] = await sql<{ ms: number }[]>`
    select extract(epoch from clock_timestamp()) * 1000 as ms`
  return (start + Date.now()) / 2 - Number(row?.ms ?? 0)
}

/** SQLSTATEs of a database that another process has just created. */
const ALREADY_EXISTS = ['42P04', '23505']

export async function createDatabaseIfAbsent(sql: Sql, name: string): Promise<void> {
  const [found] = await sql`select 1 from pg_database where datname = ${name}`
  if (found) return
  try {
    await sql.unsafe(`create database "${name.replaceAll('"', '""')}"`)
  } catch (error) {
    if (!ALREADY_EXISTS.includes(readErrorCode(error))) throw error
  }
}

/** Advisory lock of the gateway that owns an embedded database; an arbitrary fixed number. */
const OWNER_LOCK = 7_214_085_621

/**
 * Claims an embedded database for the lifetime of this connection. Returns false if it is taken.
 */
export async function claimOwnership(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ claimed: boolean }[]>`
    select pg_try_advisory_lock(${OWNER_LOCK}::bigint) as claimed`
  return row?.claimed ?? false
}

export async function ping(sql: Sql): Promise<void> {
  await sql`select 1`
}

/** LISTEN takes no parameters, so the name is quoted here. */
export async function listenOn(sql: Sql, channel: string): Promise<void> {
  await sql.unsafe(`listen "${channel.replaceAll('"', '""')}"`)
}

/** Returns the number of other client connections to this database. */
export async function countSessions(sql: Sql): Promise<number> {
  const [row] = await sql<{ others: number }[]>`
    select count(*)::int as others from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend'
      and pid <> pg_backend_pid()`
  return row?.others ?? 0
}
