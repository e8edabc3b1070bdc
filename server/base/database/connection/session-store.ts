/** The settings of a session, which override the defaults of server, database and role. */
import type { Sql } from 'postgres'

/**
 * Settings that the statements, and the client's parsing of their results, depend on. Settings that
 * an operator may have good reasons to choose, such as the search path and planner costs, are left
 * alone.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  // Compiling a statement takes a hundred times as long as running it.
  jit: 'off',
  plan_cache_mode: 'auto',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  client_min_messages: 'warning',
  exit_on_error: 'off',
  timezone: 'UTC',
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  array_nulls: 'on',
  transform_null_equals: 'off',
  standard_conforming_strings: 'on',
  row_security: 'on',
}

/** The name of a setting that a later version added, and that version. */
const TRANSACTION_TIMEOUT = ['transaction_timeout', 170_000] as const

const CHOSEN = Object.entries(SETTINGS).map(
  ([name, value]) => `set_config('${name}', '${value}', false)`,
)

/**
 * Gives a new session the same settings as every other one. It uses a statement, since poolers
 * refuse or ignore start-up parameters. 0: no limit. Returns what the server is.
 */
export async function prepareSession(
  sql: Sql,
  statementTimeoutMs: number,
): Promise<{ readonly isReplica: boolean }> {
  const [name, version] = TRANSACTION_TIMEOUT
  const timeout = `set_config('statement_timeout', '${Math.trunc(statementTimeoutMs)}', false)`
  const newer = `case when current_setting('server_version_num')::int >= ${version}
    then set_config('${name}', '0', false) end`
  const replica = 'pg_is_in_recovery() as is_replica'
  const [row] = await sql.unsafe(`select ${[replica, ...CHOSEN, timeout, newer].join(', ')}`)
  return { isReplica: row?.is_replica === true }
}
