/** Converts the ledger's types to the rows of its SQL functions. */
import { NANOS_MAX, type Nanos } from '../../lib/money.ts'
import type { HoldRequest, Settlement } from '../requests.ts'
import type { HoldRow, SettleRow } from '../store.ts'

/** `owner` is the process that serves the call, or a task, which outlives processes. */
export function toHoldRow(
  id: string,
  request: HoldRequest,
  owner: { readonly ownerId: string | null; readonly taskId: string | null },
): HoldRow {
  return {
    id,
    request_id: request.requestId,
    account_id: request.accountId,
    key_id: request.keyId,
    owner_id: owner.ownerId,
    task_id: owner.taskId,
    endpoint: request.endpoint,
    model: request.model,
    price_version: request.priceVersion?.toString() ?? null,
    amount: fitBooks(request.amountNanos).toString(),
    estimate: request.estimate,
    spend_limit: request.spendLimitNanos?.toString() ?? null,
    idempotency_key: request.idempotency?.key ?? null,
    route: request.idempotency?.route ?? null,
    fingerprint: request.idempotency?.fingerprint.toString('hex') ?? null,
  }
}

/** No balance covers more than the books can hold, so such a hold is refused like any other. */
function fitBooks(nanos: Nanos): Nanos {
  return nanos > NANOS_MAX ? NANOS_MAX : nanos
}

/** Without `hold` the ledger looks up the hold's account first. */
export function toSettleRow(
  holdId: string,
  settlement: Settlement,
  hold?: Pick<HoldRequest, 'accountId' | 'amountNanos'>,
): SettleRow {
  return {
    hold_id: holdId,
    ...(hold && { account_id: hold.accountId, held: hold.amountNanos.toString() }),
    charge: settlement.chargeNanos?.toString() ?? null,
    status: settlement.status,
    basis: settlement.basis,
    review: settlement.review ?? false,
    lines: settlement.lines,
    attempts: settlement.attempts,
    upstream_cost: settlement.cost?.nanos.toString() ?? null,
    upstream_cost_version: settlement.cost?.version.toString() ?? null,
    error: settlement.error ?? null,
    task_id: null,
    answer: settlement.answer ?? null,
  }
}

/** Releases the hold of a call that was refused as temporarily unavailable. */
export function toReleaseRow(holdId: string, accountId: string): SettleRow {
  return {
    hold_id: holdId,
    account_id: accountId,
    charge: null,
    status: 'failed',
    basis: 'none',
    review: false,
    lines: [],
    attempts: [],
    upstream_cost: null,
    upstream_cost_version: null,
    error: 'the service was temporarily unavailable',
    task_id: null,
    answer: null,
  }
}
