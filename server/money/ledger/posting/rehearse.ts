/**
 * Runs the statements of a call before the first one: a new session reads and plans them when it
 * first runs them, which takes several times as long as running them.
 */
import type { Sql } from 'postgres'
import { newId } from '../../../base/lib/ids.ts'
import { closeHolds, takeHolds } from './move-store.ts'
import { toHoldRow, toSettleRow } from './rows.ts'

/** Takes and closes a hold of an account that does not exist: nothing is written. */
export async function rehearseMoves(sql: Sql): Promise<void> {
  const [holdId, accountId] = [newId('hold'), newId('acct')]
  const hold = {
    requestId: holdId,
    accountId,
    keyId: accountId,
    endpoint: 'rehearsal',
    model: 'rehearsal',
    priceVersion: null,
    amountNanos: 1n,
    estimate: {},
    spendLimitNanos: null,
    idempotency: null,
  }
  await takeHolds(sql, [toHoldRow(holdId, hold, { ownerId: null, taskId: null })])
  const ending = {
    chargeNanos: 1n,
    status: 'failed',
    basis: 'none',
    lines: [],
    attempts: [],
  } as const
  await closeHolds(sql, [toSettleRow(holdId, ending, hold)])
}
