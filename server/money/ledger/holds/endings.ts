/**
 * Closes the holds of this process and handles unusual outcomes: a hold closed in the meantime is
 * corrected, a hold of unknown outcome is released, and unexpected verdicts are logged with their
 * amounts and counted.
 */
import type { Sql } from 'postgres'
import { formatAmount, type Nanos } from '../../../base/lib/money.ts'
import { KeyedRoster } from '../../../base/lib/queues/roster.ts'
import type { Continuity } from '../leases/continuity.ts'
import type { Journal } from '../posting/journal.ts'
import type { Moves } from '../posting/moves.ts'
import { toReleaseRow, toSettleRow } from '../posting/rows.ts'
import type { SettlementLog, Settlements } from '../posting/settlements.ts'
import type { HoldRequest, Settlement } from '../requests.ts'
import { isArchived, type SettleRow, type SettleVerdict } from '../store.ts'
import type { Corrections } from './corrections.ts'
import type { Hold } from './hold.ts'

/** After this time no statement of this process can still be running: its deadline has passed. */
const RELEASE_AFTER_MS = 10_000

/** Called with each unexpected verdict of the ledger, to count it. */
export type LedgerSurprise = (operation: 'hold' | 'settlement', verdict: string) => void

type Named = Pick<HoldRequest, 'requestId' | 'accountId'>

export interface Endings {
  track(holdId: string): void
  untrack(holdId: string): void
  /** Returns true from the request for a hold until its end is committed. */
  isTracked(holdId: string): boolean
  settle(closing: Hold, settlement: Settlement): Promise<SettleVerdict>
  /** Notes what a hold is settled with if this process dies before `settle`. */
  expect(closing: Hold, settlement: Settlement): void
  /** Writes the settlement of a hold to the journal unless it is committed. */
  preserve(closing: Hold): Promise<void>
  /** Settles a hold of a dead process. */
  settleRow(row: SettleRow): Promise<SettleVerdict>
  /** Releases a hold of unknown outcome once its statement can no longer commit. */
  releaseLater(holdId: string, request: HoldRequest): void
  /** Logs and counts an unexpected verdict. */
  report(operation: 'hold' | 'settlement', verdict: string, of: Named, nanos: Nanos | null): void
}

interface Options {
  readonly sql: Sql
  readonly moves: Moves
  readonly settlements: Settlements
  readonly corrections: Corrections
  readonly journal: Journal | undefined
  readonly continuity?: Continuity
  readonly onSurprise?: LedgerSurprise
  readonly log: SettlementLog
  /** The wait of `releaseLater`. */
  readonly releaseAfterMs?: number
}

export function createEndings(options: Options): Endings {
  const report = createReport(options)
  const { moves, settlements, corrections, journal, log } = options
  const { releaseAfterMs = RELEASE_AFTER_MS } = options
  /** Holds until their end is committed, with their settlement once it is known. */
  const tracked = new KeyedRoster<SettleRow | undefined>()

  function untrack(holdId: string): void {
    tracked.delete(holdId)
    journal?.remove(holdId)
  }

  /** Corrects a hold that was closed as lost in the meantime. Most are closed as expected. */
  async function conclude(row: SettleRow, verdict: SettleVerdict): Promise<SettleVerdict> {
    if (verdict === 'already') return await corrections.add(row)
    if (verdict !== 'unknown') return verdict
    const archived = await isArchived(options.sql, row.hold_id).catch(() => false)
    return archived ? 'archived' : verdict
  }

  async function release(holdId: string, request: HoldRequest): Promise<void> {
    const { accountId, idempotency } = request
    const answer = idempotency ? ({ key: idempotency.key, state: 'forget' } as const) : null
    const row = { ...toReleaseRow(holdId, accountId), answer }
    try {
      const verdict = await conclude(row, await settlements.add(row))
      if (verdict !== 'closed') report('hold', verdict, request, request.amountNanos)
    } catch (error) {
      log.error(
        { hold_id: holdId, error },
        'releasing a hold of unknown outcome failed, left to the periodic check',
      )
    } finally {
      untrack(holdId)
    }
  }

  return {
    track: (holdId) => tracked.set(holdId, undefined),
    untrack,
    isTracked: (holdId) => tracked.has(holdId),
    report,
    expect(closing, settlement) {
      tracked.set(closing.id, toSettleRow(closing.id, settlement, closing))
    },
    async preserve({ id }) {
      const row = tracked.get(id)
      if (row) await journal?.add(row)
    },
    settleRow: async (row) => conclude(row, await settlements.add(row)),
    releaseLater(holdId, request) {
      setTimeout(() => void release(holdId, request), releaseAfterMs).unref()
    },
    async settle(closing, settlement) {
      const row = toSettleRow(closing.id, settlement, closing)
      tracked.set(closing.id, row)
      const closed = await moves.close(row)
      const verdict = closed === 'closed' ? closed : await conclude(row, closed)
      untrack(closing.id)
      if (verdict === 'closed') return verdict
      report('settlement', verdict, closing, settlement.chargeNanos)
      // The hold was acknowledged, so only an earlier state of the database can lack it.
      if (verdict === 'unknown') options.continuity?.lost(closing.id)
      return verdict
    },
  }
}

function createReport({ onSurprise, log }: Options): Endings['report'] {
  return (operation, verdict, { requestId, accountId }, nanos) => {
    onSurprise?.(operation, verdict)
    const amount = formatAmount(nanos ?? 0n)
    const fields = { request_id: requestId, account_id: accountId, verdict, amount }
    if (operation === 'hold') log.warn(fields, 'unexpected outcome of a hold')
    else if (verdict === 'corrected')
      log.warn(fields, 'corrected the charge of a call that had been closed as lost')
    else log.error(fields, 'settlement of a hold that is already closed or unknown')
  }
}
