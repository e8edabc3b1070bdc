/**
 * Verb 3: refuses work that the gateway cannot take. Slots are taken on the way in (enter.ts), and
 * limits are decided with the hold.
 */

import { type Context, noteRates } from '../../../base/http/context.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import type { Caller } from '../../../money/accounts/accounts.ts'
import type { Model } from '../../../money/catalog/catalog.ts'
import type { Hold } from '../../../money/ledger/holds/hold.ts'
import type { Services } from '../services.ts'
import { modelLimitsOf, requestLimitsOf } from './limits.ts'

/** Throws 503 if the gateway accepts no work. */
export function admit(services: Services): void {
  const reason = services.refusesWork()
  if (reason !== undefined) {
    throw new GatewayError('unavailable', { retryAfterSeconds: 5, cause: reason })
  }
}

/** Admits a running call to another model. Resolves with false if its limits are reached. */
export async function admitFallback(
  caller: Caller,
  model: Model,
  quantities: Quantities,
  hold: Hold,
  { ledger }: Pick<Services, 'ledger'>,
): Promise<boolean> {
  const limits = modelLimitsOf(caller, model, quantities)
  if (!limits) return true
  const { accountId, id: holdId } = hold
  return (await ledger.rates.take({ accountId, holdId, limits })) === 0
}

/** Counts a request that costs nothing. Rejects with 429 over the caller's limits. */
export async function admitUncharged(
  context: Context,
  caller: Caller,
  { ledger }: Pick<Services, 'ledger'>,
): Promise<void> {
  const limits = requestLimitsOf(caller, (left) => noteRates(context, left))
  if (!limits) return
  const { accountId } = caller
  const retryAfterSeconds = await ledger.rates.take({ accountId, holdId: null, limits })
  if (retryAfterSeconds !== 0) throw new GatewayError('rate_limited', { retryAfterSeconds })
}
