/**
 * Verb 3: refuses work that the gateway cannot take. Slots are taken on the way in (`enter`),
 * and the limits of a call, which this file names, are decided with the hold.
 */

import { type Context, noteRates } from '../../../base/http/context.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { INPUT_UNITS, OUTPUT_UNITS, type Quantities } from '../../../base/lib/units.ts'
import type { Caller } from '../../../money/accounts/accounts.ts'
import type { Model } from '../../../money/catalog/catalog.ts'
import type { HoldLimits, LimitedSubject, OnLeft } from '../../../money/ledger/hold-limits.ts'
import type { Hold } from '../../../money/ledger/holds/hold.ts'
import type { Services } from '../services.ts'

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

type Limits = Caller['keyLimits']

/** Returns the limits of a call; undefined without any. Without a model, the caller's own. */
export function limitsOf(
  caller: Caller,
  model: Pick<Model, 'id' | 'limits'> | undefined,
  quantities: Quantities,
  onLeft?: OnLeft,
): HoldLimits | undefined {
  return collect(
    [...ofCaller(caller), ...(model ? ofModel(caller, model) : [])],
    quantities,
    onLeft,
  )
}

/**
 * Returns the limits of a task; undefined without any. It takes no slot of concurrent calls and
 * waits for none: it runs for minutes or hours at its vendor.
 */
export function taskLimitsOf(
  caller: Caller,
  model: Pick<Model, 'id' | 'limits'>,
  quantities: Quantities,
  onLeft?: OnLeft,
): HoldLimits | undefined {
  const subjects = [...ofCaller(caller), ...ofModel(caller, model)].flatMap(
    ({ calls: _calls, ...rest }) =>
      rest.requests === undefined && rest.tokens === undefined ? [] : [rest],
  )
  return collect(subjects, quantities, onLeft)
}

/** Returns the limits of a request that costs nothing; undefined without any. */
function requestLimitsOf(caller: Caller, onLeft?: OnLeft): HoldLimits | undefined {
  const subjects = ofCaller(caller).flatMap(({ name, requests }) => {
    return requests === undefined ? [] : [{ name, requests }]
  })
  return collect(subjects, {}, onLeft)
}

/**
 * Returns the limits of a request about a stored answer, which has been counted as a request that
 * costs nothing; undefined without any.
 */
export function storedLimitsOf(
  caller: Caller,
  model: Pick<Model, 'id' | 'limits'> | undefined,
): HoldLimits | undefined {
  const own = ofCaller(caller).flatMap(({ name, calls }) => {
    return calls === undefined ? [] : [{ name, calls }]
  })
  return collect([...own, ...(model ? ofModel(caller, model) : [])], {})
}

/** Returns the limits of another model that takes over a running call; undefined without any. */
function modelLimitsOf(
  caller: Caller,
  model: Pick<Model, 'id' | 'limits'>,
  quantities: Quantities,
): HoldLimits | undefined {
  return collect(ofModel(caller, model), quantities)
}

function collect(
  subjects: readonly LimitedSubject[],
  quantities: Quantities,
  onLeft?: OnLeft,
): HoldLimits | undefined {
  return subjects.length > 0 ? { subjects, tokens: countTokens(quantities), onLeft } : undefined
}

function countTokens(quantities: Quantities): number {
  const units = [...INPUT_UNITS, ...OUTPUT_UNITS]
  return Math.ceil(units.reduce((sum, unit) => sum + (quantities[unit] ?? 0), 0))
}

function ofCaller(caller: Caller): readonly LimitedSubject[] {
  const { accountId, accountLimits, keyId, limitKeyId = keyId, keyLimits } = caller
  return [
    ...subject(`account:${accountId}`, accountLimits),
    ...subject(`key:${limitKeyId}`, keyLimits),
  ]
}

function ofModel({ accountId }: Caller, { id, limits }: Pick<Model, 'id' | 'limits'>) {
  return subject(`model:${accountId}:${id}`, limits)
}

function subject(name: string, limits: Limits): readonly LimitedSubject[] {
  const { requests_per_minute: requests, tokens_per_minute: tokens } = limits
  const { concurrent_calls: calls } = limits
  if (requests === undefined && tokens === undefined && calls === undefined) return []
  return [
    {
      name,
      requests,
      tokens,
      calls,
    },
  ]
}
