/**
 * Builds the index of calls by end user. `call` is large: a migration would keep calls from being
 * settled while it builds it, so it is built beside the calls, once a gateway runs. Until then the
 * filter works, and reads more.
 */
import type { Sql } from 'postgres'
import { connect } from '../../base/database/connection/client.ts'
import type { DatabasePlace } from '../../base/database/connection/open-client.ts'
import type { Log } from '../../base/lib/log.ts'
import { buildIndex, lacksIndex } from './label-index-store.ts'

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
      if (!(await lacksIndex(sql))) return
      // On a connection without a time limit: a build may take long.
      client = connect(place, { connections: 1, statementTimeoutMs: 0, patient: true })
      await buildIndex(client)
    } catch (error) {
      if (!isStopped) log.warn({ error }, 'building an index failed, will be retried')
    } finally {
      await client?.end().catch(() => undefined)
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
