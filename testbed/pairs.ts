/** Pairs of a hold and its settlement, in batches, as a gateway's calls have them. */
import type { Sql } from 'postgres'
import { newId, newRequestId } from '../server/base/lib/ids.ts'
import type { CreatedKey } from '../server/money/accounts/manage-keys.ts'
import type { closeHolds, takeHolds } from '../server/money/ledger/posting/move-store.ts'
import type { toHoldRow, toSettleRow } from '../server/money/ledger/posting/rows.ts'

/** The ledger of this or of another checkout. */
export interface PairLedger {
  readonly takeHolds: typeof takeHolds
  readonly closeHolds: typeof closeHolds
  readonly toHoldRow: typeof toHoldRow
  readonly toSettleRow: typeof toSettleRow
}

const HELD_NANOS = 2_458_350n
const LINES = [
  { unit: 'input_token', quantity: 12, unit_price: '0.15', per: 1_000_000, amount: '0.0000018' },
  { unit: 'output_token', quantity: 34, unit_price: '0.6', per: 1_000_000, amount: '0.0000204' },
]
const ATTEMPTS = [{ channel: 'main', upstream_model: 'chat', outcome: 'answered', milliseconds: 9 }]

/** Takes a hold of each key in one batch and settles them in another. Rejects if one is refused. */
export async function runPairs(
  sql: Sql,
  ledger: PairLedger,
  keys: readonly CreatedKey[],
): Promise<void> {
  const calls = keys.map((key) => ({ id: newId('hold'), key }))
  const holds = calls.map(({ id, key }) =>
    ledger.toHoldRow(
      id,
      {
        requestId: newRequestId(),
        accountId: key.account_id,
        keyId: key.id,
        endpoint: 'chat.completions',
        model: 'sim-chat',
        priceVersion: 1n,
        amountNanos: HELD_NANOS,
        estimate: { input_token: 12, output_token: 4096 },
        spendLimitNanos: null,
        idempotency: null,
      },
      { ownerId: 'own_benchmark', taskId: null },
    ),
  )
  const settlements = calls.map(({ id, key }) => ({
    ...ledger.toSettleRow(id, {
      chargeNanos: 22_200n,
      status: 'succeeded',
      basis: 'usage',
      lines: LINES,
      attempts: ATTEMPTS,
    }),
    account_id: key.account_id,
    held: HELD_NANOS.toString(),
  }))
  const taken = await ledger.takeHolds(sql, holds, new Date(Date.now() + 3_000))
  const closed = await ledger.closeHolds(sql, settlements)
  for (const { id } of calls) {
    if (taken.get(id) !== 'held' || closed.get(id) !== 'closed') throw new Error(`refused ${id}`)
  }
}
