/**
 * A ledger for the calls that a gateway makes to itself when it starts: the real code, on a fake
 * database that accepts and closes every hold and keeps none.
 */
import type { Sql } from 'postgres'
import { createLedger, type Ledger } from './ledger.ts'

/** The answer of the ledger's functions to a batch in which nothing is refused. */
const NOTHING_REFUSED = async () => [{ first: [], second: [] }]
const SILENT = { warn: () => undefined, error: () => undefined }

/** None of its holds outlives it: stop it when the calls have ended. */
export function openRehearsalLedger(): Ledger {
  return createLedger({
    sql: Object.assign(async () => [], { unsafe: NOTHING_REFUSED }) as unknown as Sql,
    ownerId: 'rehearsal',
    isUnavailable: () => false,
    log: SILENT,
  })
}
