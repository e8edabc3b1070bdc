/** Detects a connection pooler in front of PostgreSQL whose mode does not keep sessions. */
import { GATEWAY_CONNECTIONS } from '../judge-server.ts'
import { DatabaseProblem } from '../problem.ts'
import { readErrorCode } from '../unavailable.ts'
import type { DatabasePlace } from './open-client.ts'
import { openDatabaseSession } from './session.ts'

/** Two connections over a slow network. */
const CONNECT_MS = 30_000
/** The second connection waits this long for a pooler whose connections are all in use. */
const SECOND_MS = 10_000
/** A server that was slow to take the first one has this many times as long for the second. */
const SLOWER_MAX = 20

/**
 * Throws DatabaseProblem for a pooler in transaction or statement mode: leases, notifications and
 * prepared statements belong to a session, but each transaction may then run in another one.
 */
export async function checkPooler(place: DatabasePlace): Promise<void> {
  const sessions = await openTwo(place)
  const [first, second] = [sessions[0].sql, sessions[1].sql]
  try {
    // Without parameters a new statement takes one round trip instead of two.
    await first`select set_config('tributary.session', 'first', false)`
    // In these modes the pooler gives the idle server connection to the second client.
    await second`select set_config('tributary.session', 'second', false)`
    const [row] = await first<{ value: string }[]>`
      select current_setting('tributary.session', true) as value`
    if (row?.value !== 'first') throw wrongMode()
  } catch (error) {
    throw isLostStatement(error) ? wrongMode(error) : error
  } finally {
    await Promise.all(sessions.map((session) => session.close(1)))
  }
}

async function openTwo(place: DatabasePlace) {
  const signal = AbortSignal.timeout(CONNECT_MS)
  const open = (timeoutMs: number) =>
    openDatabaseSession(place, { name: 'tributary start' }, { timeoutMs, signal })
  const since = performance.now()
  const first = await open(CONNECT_MS)
  const firstMs = performance.now() - since
  try {
    return [first, await open(Math.max(SECOND_MS, SLOWER_MAX * firstMs))] as const
  } catch (error) {
    await first.close(1)
    throw readErrorCode(error) === 'CONNECT_TIMEOUT' ? tooFew() : error
  }
}

/** Returns true if a prepared statement is missing, or belongs to another session. */
function isLostStatement(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && ['26000', '42P05'].includes(String(error.code))
  )
}

function wrongMode(cause?: unknown): DatabaseProblem {
  return new DatabaseProblem(
    'the pooler in front of PostgreSQL is in transaction mode, and the gateway needs sessions: ' +
      'set pool_mode = session for this database, or connect to PostgreSQL directly',
    cause,
  )
}

/** The cause, a timeout, is left out: the start would take it for a server that is not up yet. */
function tooFew(): DatabaseProblem {
  return new DatabaseProblem(
    'one connection to the database is answered, and a second one waits: the pooler in front of ' +
      'PostgreSQL gives too few. Raise its default_pool_size: each gateway and each of its ' +
      `workers uses up to ${GATEWAY_CONNECTIONS}`,
  )
}

/** Returns what to do about a pooler that refuses a start-up parameter, or undefined. */
export function explainPooler(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : ''
  const [, name] = /unsupported startup parameter: (\w+)/.exec(message) ?? []
  if (name === undefined) return undefined
  return (
    `the pooler in front of PostgreSQL refuses ${name}: set ignore_startup_parameters = ${name} ` +
    'in pgbouncer.ini, with pool_mode = session'
  )
}
