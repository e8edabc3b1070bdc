/** Opens the ledger with its lease, its sweeper and the check of the database's continuity. */
import { join } from 'node:path'
import type { OpenedDatabase } from '../../base/database/open.ts'
import { isUnavailable } from '../../base/database/unavailable.ts'
import type { Log } from '../../base/lib/log.ts'
import type { LedgerSurprise } from '../../money/ledger/holds/endings.ts'
import { type Continuity, createContinuity } from '../../money/ledger/leases/continuity.ts'
import { createDatabaseClock } from '../../money/ledger/leases/lease-clock.ts'
import { type Sweeper, startSweeper } from '../../money/ledger/leases/sweeper.ts'
import { createLedger, type Ledger } from '../../money/ledger/ledger.ts'
import { createInFlight, type InFlight } from '../../work/pipeline/load/in-flight.ts'
import type { Config } from '../config/config.ts'

interface Parts {
  readonly config: Config
  readonly database: OpenedDatabase
  readonly ownerId: string
  readonly log: Log
  readonly onSurprise: LedgerSurprise
  /**
   * Called when this is not the database that the process has worked with. A restored task may
   * already have been sent to its vendor, so nothing may be submitted again.
   */
  readonly onBroken: () => void
}

/** Registers this process with the database and opens its ledger. */
export async function openLedger(parts: Parts): Promise<{
  readonly ledger: Ledger
  readonly sweeper: Sweeper
  readonly continuity: Continuity
  readonly inFlight: InFlight
}> {
  const { config, database, ownerId, log, onSurprise, onBroken } = parts
  const { sql } = database
  const inFlight = createInFlight()
  const clock = createDatabaseClock(() => performance.now())
  const continuity = createContinuity({ log, onBroken })
  const known = { sql, ownerId, isUnavailable, clock, continuity, onSurprise, log }
  const journalFolder = join(config.dataDir, 'settlements')
  const renewLease = () => sweeper.renew()
  const ledger = createLedger({ ...known, journalFolder, renewLease, ...config.ledger })
  const sweeper = await startSweeper({
    sql,
    ownerId,
    clock,
    continuity,
    log,
    address: `${config.host}:${config.port}`,
    exclusive: database.kind === 'embedded',
    ...config.leases,
    onIsolated: () => inFlight.abortAll('the database was unavailable for too long'),
    beforeSweep: ledger.settleJournals,
  })
  return { ledger, sweeper, continuity, inFlight }
}
