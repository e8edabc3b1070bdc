/**
 * Stores the current charge of every running call once a second, in one statement. If this process
 * dies, the sweeper charges that amount.
 */
import type { Sql } from 'postgres'
import type { Log } from '../../../base/lib/log.ts'
import type { Nanos } from '../../../base/lib/money.ts'
import { KeyedRoster } from '../../../base/lib/queues/roster.ts'
import { fitBooks } from '../posting/rows.ts'
import { type CheckpointRow, type StoredCheckpoint, writeCheckpoints } from '../store.ts'
import type { Hold } from './hold.ts'

const INTERVAL_MS = 1_000
/** Younger calls usually end before a checkpoint would matter. */
const AGE_MS_MIN = 200

export interface Checkpoint {
  readonly chargeNanos: Nanos
  readonly lines: unknown
  readonly attempts?: unknown
  readonly cost?: { readonly nanos: Nanos; readonly version: bigint } | null
}

interface Watched {
  readonly accountId: string
  readonly read: () => Checkpoint | undefined
  readonly since: number
  writtenNanos: Nanos | undefined
}

function store({ chargeNanos, lines, attempts = [], cost }: Checkpoint): StoredCheckpoint {
  return {
    charge: fitBooks(chargeNanos).toString(),
    lines,
    attempts,
    upstream_cost: cost?.nanos.toString() ?? null,
    upstream_cost_version: cost?.version.toString() ?? null,
  }
}

export function createCheckpoints(options: { readonly sql: Sql; readonly log: Pick<Log, 'warn'> }) {
  const watched = new KeyedRoster<Watched>()
  let busy = false

  function collect(): CheckpointRow[] {
    const rows: CheckpointRow[] = []
    const now = performance.now()
    for (const [holdId, call] of watched.list()) {
      if (now - call.since < AGE_MS_MIN) continue
      const checkpoint = call.read()
      if (!checkpoint || checkpoint.chargeNanos === call.writtenNanos) continue
      call.writtenNanos = checkpoint.chargeNanos
      rows.push({
        hold_id: holdId,
        account_id: call.accountId,
        checkpoint: store(checkpoint),
      })
    }
    return rows
  }

  async function write(): Promise<void> {
    if (busy) return
    busy = true
    try {
      const rows = collect()
      if (rows.length > 0) await writeCheckpoints(options.sql, rows)
    } catch (error) {
      options.log.warn({ error }, 'checkpoints could not be written')
    } finally {
      busy = false
    }
  }

  const timer = setInterval(write, INTERVAL_MS)
  timer.unref()

  return {
    watch({ id, accountId }: Hold, read: () => Checkpoint | undefined): void {
      watched.set(id, { accountId, read, since: performance.now(), writtenNanos: undefined })
    },
    forget(holdId: string): void {
      watched.delete(holdId)
    },
    stop(): void {
      clearInterval(timer)
    },
  }
}
