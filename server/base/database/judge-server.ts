/** Judges the settings of a server: which of them lose data, and which stop calls. */
import type { ServerRow } from './store.ts'

const VERSION_MIN = 140_000
/** Connections of one gateway under load: its pools, its watch and its lock. */
export const GATEWAY_CONNECTIONS = 15

export interface ServerFinding {
  /** The setting as PostgreSQL names it, or a plain name for a right or a limit. */
  readonly name: string
  readonly value: string
  /** `refused`: a gateway does not start, and one that runs is not ready. */
  readonly verdict: 'ok' | 'warning' | 'refused'
  /** The problem and its remedy; empty without one. */
  readonly message: string
}

/** Returns a finding for each check, in order. */
export function judgeServer(server: ServerRow): readonly ServerFinding[] {
  return [
    ...judgeVersion(server),
    ...judgeWrites(server),
    ...judgeLimits(server),
    ...judgeCleaning(server),
  ]
}

/** Returns the message of the first finding that is refused. */
export function findRefusal(server: ServerRow): string | undefined {
  return judgeServer(server).find(({ verdict }) => verdict === 'refused')?.message
}

function judgeVersion({
  version,
  encoding,
  orders_numbers: ordersNumbers,
}: ServerRow): ServerFinding[] {
  const major = String(Math.floor(version / 10_000))
  return [
    refuseIf(
      version < VERSION_MIN,
      'server_version',
      major,
      `PostgreSQL 14 or newer is needed (this is ${major})`,
    ),
    refuseIf(
      encoding !== 'UTF8',
      'server_encoding',
      encoding,
      `the database has the encoding ${encoding}: create it with encoding 'UTF8' and template0`,
    ),
    refuseIf(
      ordersNumbers,
      'collation',
      ordersNumbers ? 'orders numbers' : 'orders characters',
      'the locale of the database orders digits in texts as numbers (kn), but ids are in the ' +
        "order of their characters: create it with another locale ('C.UTF-8') and template0",
    ),
  ]
}

export const REPLICA = 'this PostgreSQL is a read-only replica: name the primary in DATABASE_URL'

function judgeWrites(server: ServerRow): ServerFinding[] {
  const { role, schema, may_create, may_write } = server
  return [
    refuseIf(server.is_replica, 'pg_is_in_recovery', onOff(server.is_replica), REPLICA),
    refuseIf(
      server.is_read_only,
      'default_transaction_read_only',
      onOff(server.is_read_only),
      'this database is read-only (default_transaction_read_only): switch that off for the role',
    ),
    refuseIf(
      may_write === false,
      'rights on the tables',
      may_write === false ? 'missing' : 'granted',
      `the role ${role} may not change the tables: connect as their owner, or make it a member`,
    ),
    refuseIf(
      server.hides_rows,
      'row-level security',
      onOff(server.hides_rows),
      `row-level security hides all rows from the role ${role}: connect as the owner of the ` +
        'tables, and do not force it on them (alter table … no force row level security)',
    ),
    refuseIf(
      may_write === null && (schema === null || !may_create),
      'rights on the schema',
      may_create ? 'granted' : 'missing',
      schema === null
        ? `the role ${role} may use no schema of its search_path: grant usage, create on schema ` +
            `public to ${role}, or set search_path to a schema that exists`
        : `the role ${role} may not create tables: grant create on schema ${schema} to ${role}, ` +
            'or make it the owner of the database',
    ),
    refuseIf(
      server.replication_role !== 'origin',
      'session_replication_role',
      server.replication_role,
      `session_replication_role is ${server.replication_role}, so the triggers that protect the ` +
        'books do not run: reset it for the role and the database',
    ),
    ...judgeDurability(server),
  ]
}

function judgeDurability({
  fsync,
  pages,
  commit,
  replicas,
  sync_standbys,
}: ServerRow): ServerFinding[] {
  const loses = (name: string, value: string, isBad: boolean) =>
    refuseIf(
      isBad && process.env.TRIBUTARY_TEST_UNSAFE_DATABASE !== '1',
      name,
      value,
      `this PostgreSQL can lose committed transactions (${name} ${value}): switch it on`,
    )
  const hasReplicas = replicas > 0 && (sync_standbys === '' || commit === 'local')
  return [
    loses('fsync', fsync, fsync !== 'on'),
    loses('full_page_writes', pages, pages !== 'on'),
    loses('synchronous_commit', commit, commit === 'off'),
    warnIf(
      hasReplicas,
      'synchronous_standby_names',
      sync_standbys,
      `${replicas} replicas follow this server asynchronously, so a failover can lose the last ` +
        'commits: set synchronous_standby_names, and leave synchronous_commit at on',
    ),
  ]
}

function judgeLimits(server: ServerRow): ServerFinding[] {
  const free = server.max_connections - server.reserved_connections
  const few = (name: string, value: number) =>
    warnIf(
      value >= 0 && value < GATEWAY_CONNECTIONS,
      name,
      String(value),
      `${name} leaves ${value} connections, a gateway uses up to ${GATEWAY_CONNECTIONS}: past ` +
        'it calls wait, and then get 503; allow that many for each gateway',
    )
  return [
    few('max_connections', free),
    few('connection limit of the role', server.role_connections),
    few('connection limit of the database', server.database_connections),
  ]
}

function judgeCleaning({ autovacuum, track_counts }: ServerRow): ServerFinding[] {
  const stops = (name: string, value: string) =>
    warnIf(
      value === 'off',
      name,
      value,
      `${name} is off, so nothing removes what updates leave behind and nothing analyzes the ` +
        'tables: statements get slower by the day, and the disk fills; switch it on',
    )
  return [stops('autovacuum', autovacuum), stops('track_counts', track_counts)]
}

function refuseIf(isBad: boolean, name: string, value: string, message: string): ServerFinding {
  return { name, value, verdict: isBad ? 'refused' : 'ok', message: isBad ? message : '' }
}

function warnIf(isBad: boolean, name: string, value: string, message: string): ServerFinding {
  return { name, value, verdict: isBad ? 'warning' : 'ok', message: isBad ? message : '' }
}

function onOff(value: boolean): string {
  return value ? 'on' : 'off'
}
