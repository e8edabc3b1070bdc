/** Refuses servers on which money would not be safe, before anything is written. */
import type { Sql } from 'postgres'
import { judgeServer, REPLICA } from './judge-server.ts'
import { DatabaseProblem } from './problem.ts'
import { readServer } from './store.ts'

/**
 * Throws DatabaseProblem if the server is too old, may lose acknowledged commits or cannot be
 * written. Returns what is a reason to warn.
 */
export async function refuseUnsafe(sql: Sql): Promise<readonly string[]> {
  const findings = judgeServer(await readServer(sql))
  const refused = findings.find(({ verdict }) => verdict === 'refused')
  if (refused) throw new DatabaseProblem(refused.message)
  return findings.filter(({ verdict }) => verdict === 'warning').map(({ message }) => message)
}

export function explainReplica(cause?: unknown): DatabaseProblem {
  return new DatabaseProblem(REPLICA, cause)
}
