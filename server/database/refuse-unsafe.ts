/** Refuses servers on which money would not be safe, before anything is written. */
import type { Sql } from 'postgres'
import { DatabaseProblem } from './problem.ts'
import { readServer } from './store.ts'

const VERSION_MIN = 140_000

/** Throws DatabaseProblem if the server is too old or may lose acknowledged commits. */
export async function refuseUnsafe(sql: Sql): Promise<void> {
  const server = await readServer(sql)
  if (!server || server.version < VERSION_MIN) {
    const found = server ? ` (this is ${Math.floor(server.version / 10_000)})` : ''
    throw new DatabaseProblem(`PostgreSQL 14 or newer is needed${found}`)
  }
  if (process.env.TRIBUTARY_TEST_UNSAFE_DATABASE === '1') return
  const { fsync, commit, pages } = server
  if (fsync !== 'on' || pages !== 'on' || commit === 'off') {
    throw new DatabaseProblem(
      `this PostgreSQL can lose committed transactions (fsync ${fsync}, full_page_writes ` +
        `${pages}, synchronous_commit ${commit}): switch them on`,
    )
  }
}
