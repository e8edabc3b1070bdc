/** Finds out whether a pooler stands in front of PostgreSQL, in a mode that loses sessions. */
import { DatabaseProblem } from '../problem.ts'
import { type DatabasePlace, openClient } from './open-client.ts'

const SETTING = 'tributary.session'

/**
 * Throws DatabaseProblem for a pooler in transaction or statement mode: leases, notifications and
 * prepared statements belong to a session, but each transaction may then run in another one.
 */
export async function checkPooler(place: DatabasePlace): Promise<void> {
  const options = { connections: 1, name: 'tributary start' }
  const first = openClient(place, options)
  const second = openClient(place, options)
  try {
    await first`select set_config(${SETTING}, 'first', false)`
    // In these modes the pooler gives the idle server connection to the second client.
    await second`select set_config(${SETTING}, 'second', false)`
    const [row] = await first<{ value: string }[]>`
      select current_setting(${SETTING}, true) as value`
    if (row?.value !== 'first') throw wrongMode()
  } catch (error) {
    throw isLostStatement(error) ? wrongMode(error) : error
  } finally {
    await Promise.all([first.end({ timeout: 1 }), second.end({ timeout: 1 })])
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
