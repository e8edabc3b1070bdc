/** Converts the ledger's types to the rows of its SQL functions. */

import { isObject } from '../../../base/lib/json.ts'
import { NANOS_MAX, type Nanos } from '../../../base/lib/money.ts'
import { TOKEN_UNITS } from '../../../base/lib/units.ts'
import { type HoldLimits, tokenSubjects } from '../hold-limits.ts'
import type { HoldRequest, Settlement } from '../requests.ts'
import type { HoldRow, SettleRow } from '../store.ts'

/** `owner` is the process that serves the call, or a task, which outlives processes. */
export function toHoldRow(
  id: string,
  request: HoldRequest,
  owner: { readonly ownerId: string | null; readonly taskId: string | null },
): HoldRow {
  const { excessNanos = 0n } = request
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
    labels: request.labels,
    spend_limit: request.spendLimitNanos?.toString() ?? null,
    idempotency_key: request.idempotency?.key ?? null,
    route: request.idempotency?.route ?? null,
    fingerprint: request.idempotency?.fingerprint.toString('hex') ?? null,
    limits: request.limits,
    ...(excessNanos > 0n ? { excess: fitBooks(excessNanos).toString() } : {}),
  }
}

/** Reduces an amount to what the books can hold; no balance covers a hold of that size. */
export function fitBooks(nanos: Nanos): Nanos {
  return nanos > NANOS_MAX ? NANOS_MAX : nanos
}

/** The largest amount that can be written: nine digits on either side of the point. */
const AMOUNT_MAX: Nanos = 10n ** 18n - 1n

/**
 * Reduces a charge that the books cannot hold: it could never be committed, and its hold would stay
 * open. A charge within its hold always fits.
 */
function fitCharge({ chargeNanos }: Settlement, heldNanos: Nanos): Nanos | null {
  const most = heldNanos > AMOUNT_MAX ? heldNanos : AMOUNT_MAX
  return chargeNanos !== null && chargeNanos > most ? most : chargeNanos
}

/** Without `hold` the ledger looks up the hold's account first. */
export function toSettleRow(
  holdId: string,
  settlement: Settlement,
  hold?: Pick<HoldRequest, 'accountId' | 'amountNanos' | 'limits'>,
): SettleRow {
  const chargeNanos = fitCharge(settlement, hold?.amountNanos ?? 0n)
  return {
    hold_id: holdId,
    ...(hold && { account_id: hold.accountId, held: hold.amountNanos.toString() }),
    charge: chargeNanos?.toString() ?? null,
    status: settlement.status,
    basis: settlement.basis,
    review: chargeNanos !== settlement.chargeNanos || (settlement.review ?? false),
    lines: settlement.lines,
    attempts: settlement.attempts,
    upstream_cost: settlement.cost?.nanos.toString() ?? null,
    upstream_cost_version: settlement.cost?.version.toString() ?? null,
    error: settlement.error ?? null,
    task_id: null,
    answer: settlement.answer ?? null,
    ...(hold?.limits && returnTokens(hold.limits, settlement)),
  }
}

/** Returns the tokens of the estimate that the call did not use, if any limit counts tokens. */
function returnTokens(limits: HoldLimits, { chargeNanos, lines }: Settlement) {
  const names = tokenSubjects(limits)
  const used = chargeNanos === null ? 0 : countTokens(lines)
  // A record without lines does not state how many tokens were used.
  if (names.length === 0 || used === undefined || used === limits.tokens) return {}
  return { returned_tokens: { tokens: limits.tokens - used, names } }
}

function countTokens(lines: unknown): number | undefined {
  if (!Array.isArray(lines)) return undefined
  const counts = lines.filter(isTokenLine).map(({ quantity }) => quantity)
  return counts.length > 0 ? counts.reduce((sum, count) => sum + count, 0) : undefined
}

const TOKENS: ReadonlySet<unknown> = new Set(TOKEN_UNITS)

function isTokenLine(line: unknown): line is { readonly quantity: number } {
  return isObject(line) && TOKENS.has(line.unit) && Number.isSafeInteger(line.quantity)
}

/** Releases the hold of a call that was refused as temporarily unavailable. */
export function toReleaseRow(holdId: string, accountId: string): SettleRow {
  const row = toSettleRow(holdId, {
    chargeNanos: null,
    status: 'failed',
    basis: 'none',
    lines: [],
    attempts: [],
    error: 'the service was temporarily unavailable',
  })
  return { ...row, account_id: accountId }
}
