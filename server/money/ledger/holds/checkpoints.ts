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
  /** Its charge could not be read once, which is logged. */
  isOdd: boolean
}

interface Current {
  readonly call: Watched
  readonly chargeNanos: Nanos
  readonly row: CheckpointRow
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

export function createCheckpoints(options: {
  readonly sql: Sql
  readonly log: Pick<Log, 'warn' | 'error'>
}) {
  const watched = new KeyedRoster<Watched>()
  let busy = false

  /** A call whose charge cannot be read has no checkpoint; all others have theirs. */
  function read(holdId: string, call: Watched): Checkpoint | undefined {
    try {
      return call.read()
    } catch (error) {
      if (!call.isOdd) options.log.error({ hold_id: holdId, error }, 'a charge cannot be read')
      call.isOdd = true
      return undefined
    }
  }

  function collect(): Current[] {
    const found: Current[] = []
    const now = performance.now()
    for (const [holdId, call] of watched.list()) {
      if (now - call.since < AGE_MS_MIN) continue
      const checkpoint = read(holdId, call)
      if (!checkpoint || checkpoint.chargeNanos === call.writtenNanos) continue
      const { chargeNanos } = checkpoint
      const row = { hold_id: holdId, account_id: call.accountId, checkpoint: store(checkpoint) }
      found.push({ call, chargeNanos, row })
    }
    return found
  }

  async function write(): Promise<void> {
    if (busy) return
    busy = true
    try {
      const found = collect()
      if (found.length === 0) return
      const rows = found.map(({ row }) => row)
      await writeCheckpoints(options.sql, rows)
      for (const { call, chargeNanos } of found) call.writtenNanos = chargeNanos
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
      const since = performance.now()
      watched.set(id, { accountId, read, since, writtenNanos: undefined, isOdd: false })
    },
    forget(holdId: string): void {
      watched.delete(holdId)
    },
    stop(): void {
      clearInterval(timer)
    },
  }
}
