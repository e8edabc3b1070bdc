/**
 * A ledger for calls that a start makes to itself: the code of the real one, on a database that
 * takes and closes every hold and keeps none.
 */
import type { Sql } from 'postgres'
import { createLedger, type Ledger } from './ledger.ts'

/** The answer of the ledger's functions to a batch in which nothing is refused. */
const NOTHING_REFUSED = async () => [{ first: [], second: [] }]
const SILENT = { warn: () => undefined, error: () => undefined }

/** Nothing of its holds outlives it: stop it when the calls have ended. */
export function openRehearsalLedger(): Ledger {
  return createLedger({
    sql: Object.assign(async () => [], { unsafe: NOTHING_REFUSED }) as unknown as Sql,
    ownerId: 'rehearsal',
    isUnavailable: () => false,
    log: SILENT,
  })
}
