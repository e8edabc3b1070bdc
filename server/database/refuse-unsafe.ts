/** Refuses servers on which money would not be safe, before anything is written. */
import type { Sql } from 'postgres'
import { DatabaseProblem } from './problem.ts'
import { readServer } from './store.ts'

const VERSION_MIN = 140_000

/**
 * Throws DatabaseProblem if the server is too old, may lose acknowledged commits or cannot be
 * written.
 */
export async function refuseUnsafe(sql: Sql): Promise<void> {
  const server = await readServer(sql)
  if (!server || server.version < VERSION_MIN) {
    const found = server ? ` (this is ${Math.floor(server.version / 10_000)})` : ''
    throw new DatabaseProblem(`PostgreSQL 14 or newer is needed${found}`)
  }
  refuseUnwritable(server)
  if (process.env.TRIBUTARY_TEST_UNSAFE_DATABASE === '1') return
  const { fsync, commit, pages } = server
  if (fsync !== 'on' || pages !== 'on' || commit === 'off') {
    throw new DatabaseProblem(
      `this PostgreSQL can lose committed transactions (fsync ${fsync}, full_page_writes ` +
        `${pages}, synchronous_commit ${commit}): switch them on`,
    )
  }
}

type Server = NonNullable<Awaited<ReturnType<typeof readServer>>>

function refuseUnwritable(server: Server): void {
  const { encoding, role, schema, may_create, may_write } = server
  if (server.is_replica) {
    throw new DatabaseProblem(
      'this PostgreSQL is a read-only replica: name the primary in DATABASE_URL',
    )
  }
  if (server.is_read_only) {
    throw new DatabaseProblem(
      'this database is read-only (default_transaction_read_only): switch that off for the role',
    )
  }
  if (encoding !== 'UTF8') {
    throw new DatabaseProblem(
      `the database has the encoding ${encoding}: create it with encoding 'UTF8' and template0`,
    )
  }
  if (may_write === false) {
    throw new DatabaseProblem(
      `the role ${role} may not change the tables: connect as their owner, or make it a member`,
    )
  }
  if (may_write === null && schema === null) {
    throw new DatabaseProblem(
      `the role ${role} may use no schema of its search_path: grant usage, create on schema ` +
        `public to ${role}, or set search_path to a schema that exists`,
    )
  }
  if (may_write === null && !may_create) {
    throw new DatabaseProblem(
      `the role ${role} may not create tables: grant create on schema ${schema} to ${role}, or ` +
        'make it the owner of the database',
    )
  }
}
