/**
 * Builds the indexes of calls by tag and by end user. `call` is large: a migration would keep calls
 * from being settled while it builds them, so they are built beside the calls, once a gateway runs.
 * Until then the filters work, and read more.
 */
import type { Sql } from 'postgres'
import { connect } from '../../base/database/connection/client.ts'
import type { DatabasePlace } from '../../base/database/connection/open-client.ts'
import type { Log } from '../../base/lib/log.ts'
import { buildIndex, listMissingIndexes } from './label-index-store.ts'

const FIRST_MS = 30_000
const AGAIN_MS = 10 * 60_000

export interface LabelIndexes {
  stop(): Promise<void>
}

export function startLabelIndexes(parts: {
  readonly sql: Sql
  readonly place: DatabasePlace
  readonly log: Log
}): LabelIndexes {
  const { sql, place, log } = parts
  let isStopped = false
  let timer = setTimeout(run, FIRST_MS)
  let client: Sql | undefined

  async function run(): Promise<void> {
    try {
      if ((await listMissingIndexes(sql)).length === 0) return
      // On a connection of its own, since a build takes as long as it takes.
      client = connect(place, { connections: 1, statementTimeoutMs: 0, patient: true })
      await buildLabelIndexes(client)
    } catch (error) {
      if (!isStopped) log.warn({ error }, 'building an index failed, will be repeated')
    } finally {
      await client?.end()
      client = undefined
    }
    if (!isStopped) timer = setTimeout(run, AGAIN_MS)
  }

  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await client?.end({ timeout: 0 })
    },
  }
}

/** `alone` is a client of one connection, without a limit of time. */
export async function buildLabelIndexes(alone: Sql): Promise<void> {
  for (const name of await listMissingIndexes(alone)) {
    if (!(await buildIndex(alone, name))) return
  }
}
