/**
 * Runs the statements of a call before the first one: a new session reads and plans them when it
 * first runs them, which takes several times as long as running them.
 */
import type { Sql } from 'postgres'
import { newId } from '../../../base/lib/ids.ts'
import { closeHolds, takeHolds } from './move-store.ts'

/** Takes and closes a hold of an account that does not exist: nothing is written. */
export async function rehearseMoves(sql: Sql): Promise<void> {
  const [holdId, accountId] = [newId('hold'), newId('acct')]
  await takeHolds(sql, [
    {
      id: holdId,
      request_id: holdId,
      account_id: accountId,
      key_id: accountId,
      owner_id: null,
      task_id: null,
      endpoint: 'rehearsal',
      model: 'rehearsal',
      price_version: null,
      amount: '1',
      estimate: {},
      spend_limit: null,
      idempotency_key: null,
      route: null,
      fingerprint: null,
    },
  ])
  await closeHolds(sql, [
    {
      hold_id: holdId,
      account_id: accountId,
      held: '1',
      charge: '1',
      status: 'failed',
      basis: 'none',
      review: false,
      lines: [],
      attempts: [],
      upstream_cost: null,
      upstream_cost_version: null,
      error: null,
      task_id: null,
      answer: null,
    },
  ])
}
