/**
 * Holds of tasks. They are taken and closed in the transaction that changes the task, and belong to
 * no process: the holder of the task's lease may send requests under them.
 */
import type { TransactionSql } from 'postgres'
import { holdIdOf } from '../../../base/lib/ids.ts'
import { closeHolds, takeHolds } from '../posting/move-store.ts'
import { toHoldRow, toSettleRow } from '../posting/rows.ts'
import type { HoldRequest, Settlement } from '../requests.ts'
import {
  freeIdempotencyKey,
  type HoldVerdict,
  type KeyHolder,
  keepAnswer,
  keepKey,
} from '../store.ts'
import { admitHold, type Hold } from './hold.ts'

export { keepAnswer }

export type TaskHoldResult =
  | { readonly holdId: string }
  | { readonly refused: Exclude<HoldVerdict, 'held' | 'already' | 'late'> }

/** Places a hold for a task, in the transaction that creates the task. */
export async function holdForTask(
  transaction: TransactionSql,
  taskId: string,
  request: HoldRequest,
): Promise<TaskHoldResult> {
  const id = holdIdOf(request.requestId)
  const row = toHoldRow(id, request, { ownerId: null, taskId })
  const verdict = (await takeHolds(transaction, [row])).get(id) ?? 'no_account'
  if (verdict === 'late') throw new Error(`hold ${id} of a task: late, without a deadline`)
  return verdict === 'held' || verdict === 'already' ? { holdId: id } : { refused: verdict }
}

/** Returns the token that opens connections for a task: its hold is open as long as the task is. */
export function admitTaskHold(row: {
  readonly id: string
  readonly requestId: string
  readonly accountId: string
  readonly amountNanos: bigint
}): Hold {
  return admitHold(row)
}

/**
 * Closes a task's hold, in the transaction that ends the task. Throws if it was closed before: the
 * caller's compare-and-set on the task rules that out, so the transaction must not commit. Without
 * a charge, an Idempotency-Key without an answer becomes free again.
 */
export async function settleTask(
  transaction: TransactionSql,
  hold: KeyHolder,
  settlement: Settlement,
): Promise<void> {
  const { hold_id: holdId, account_id } = hold
  const row = { ...toSettleRow(holdId, settlement), account_id }
  const verdict = (await closeHolds(transaction, [row])).get(holdId)
  if (verdict !== 'closed') throw new Error(`hold ${holdId} of a task: ${verdict ?? 'no answer'}`)
  if ((settlement.chargeNanos ?? 0n) > 0n) await keepKey(transaction, hold)
  else await freeIdempotencyKey(transaction, hold)
}
