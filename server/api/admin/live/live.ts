/**
 * Server-sent events for viewers of an account. One poll every two seconds serves all viewers;
 * without viewers the database is not queried.
 */
import type { Sql } from 'postgres'
import type { Log } from '../../../base/lib/log.ts'
import { findChanges } from './changes.ts'
import { type LiveRow, readLive } from './live-store.ts'
import { createStreams, type Viewer } from './streams.ts'

const READ_INTERVAL_MS = 2_000
const HEARTBEAT_MS = 15_000
/** Long enough for a call that ends to be seen by more than one poll, even if one is late. */
const ENDED_SECONDS = 20

export interface Live {
  /** Begins a response of events. Throws 429 beyond the limits. */
  connect(viewer: Viewer): void
  /** Ends every stream. */
  stop(): void
}

export function createLive(options: { readonly sql: Sql; readonly log: Pick<Log, 'warn'> }): Live {
  const { sql, log } = options
  const lastRows = new Map<string, LiveRow>()
  let timers: NodeJS.Timeout[] = []
  let isReading = false
  const streams = createStreams(() => {
    for (const timer of timers) clearInterval(timer)
    timers = []
    lastRows.clear()
  })

  async function poll(): Promise<void> {
    const accountIds = streams.accountIds()
    if (accountIds.length === 0) return
    for (const row of await readLive(sql, accountIds, ENDED_SECONDS)) {
      const events = findChanges(lastRows.get(row.account_id), row)
      lastRows.set(row.account_id, row)
      const lines = events.map(
        ({ name, data }) => `event: ${name}\ndata: ${JSON.stringify(data)}\n`,
      )
      if (lines.length > 0) streams.send(row.account_id, `${lines.join('\n')}\n`)
    }
    for (const id of lastRows.keys()) if (!accountIds.includes(id)) lastRows.delete(id)
  }

  function readOnce(): void {
    if (isReading) return
    isReading = true
    poll()
      .catch((error: unknown) =>
        log.warn({ error }, 'reading live changes failed, will be retried'),
      )
      .finally(() => {
        isReading = false
      })
  }

  return {
    connect(viewer) {
      if (!streams.open(viewer)) return
      // The other viewers know what changed before the last poll, but the new viewer may not.
      lastRows.delete(viewer.accountId)
      if (timers.length === 0) {
        timers = [
          setInterval(readOnce, READ_INTERVAL_MS),
          setInterval(streams.heartbeat, HEARTBEAT_MS),
        ]
      }
      readOnce()
    },
    stop: streams.end,
  }
}
