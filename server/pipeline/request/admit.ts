/** Verb 3: checks rate and concurrency limits. */
import type { Caller } from '../../accounts/accounts.ts'
import type { Model } from '../../catalog/catalog.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { Leave } from '../load/limiter.ts'
import type { Services } from '../services.ts'

/**
 * Admits a call; the returned function frees its concurrency slots. Without a model only the
 * caller's own limits apply. Throws 429 with Retry-After, or 503 if the gateway accepts no work.
 */
export function admit(caller: Caller, model: Model | undefined, services: Services): Leave {
  const reason = services.refusesWork()
  if (reason !== undefined) {
    throw new GatewayError('unavailable', { retryAfterSeconds: 5, cause: reason })
  }
  if (services.inFlight.size() >= services.limits.callsMax) {
    throw new GatewayError('unavailable', { retryAfterSeconds: 1, cause: 'too many calls' })
  }
  const entered = services.limiter.enter([
    { subject: `account:${caller.accountId}`, limits: caller.accountLimits },
    { subject: `key:${caller.keyId}`, limits: caller.keyLimits },
    ...(model ? [ownLimits(caller, model)] : []),
  ])
  if (typeof entered === 'function') return entered
  throw new GatewayError('rate_limited', { retryAfterSeconds: entered.retryAfterSeconds })
}

/** Admits a running call to another model; undefined if that model's limits are reached. */
export function admitFallback(
  caller: Caller,
  model: Model,
  { limiter }: Pick<Services, 'limiter'>,
): Leave | undefined {
  const entered = limiter.enter([ownLimits(caller, model)])
  return typeof entered === 'function' ? entered : undefined
}

function ownLimits({ accountId }: Caller, { id, limits }: Model) {
  return { subject: `model:${accountId}:${id}`, limits }
}
