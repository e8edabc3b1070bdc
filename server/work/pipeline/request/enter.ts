/** The way in of every request with a key, whatever its endpoint. */

import type { Context } from '../../../base/http/context.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import type { Caller } from '../../../money/accounts/accounts.ts'
import type { Services, Waiting } from '../services.ts'
import { identify } from './identify.ts'

type NeededForRefusals = Pick<
  Services,
  'accounts' | 'addresses' | 'limiter' | 'limits' | 'whileAway'
>
type Needed = NeededForRefusals & Pick<Services, 'slots'>

/** Of what an account may have refused, so that one broken client leaves something to others. */
const KEY_SHARE = 1 / 2
/** Reading a body costs about as much as handling a small request for each of these. */
const BYTES_PER_UNIT = 64 * 1024

/**
 * Identifies the caller and runs `work` in one of the gateway's slots, which accounts share fairly.
 * An account with few of them waits for its next one. What is refused before money is held counts
 * towards a limit of its own, since no other limit bounds it. Slot and limit are decided before the
 * body is read, so such a refusal costs no more than the request's head. Throws as `identify`, 429
 * beyond that limit, 503 without a slot, or as `work`.
 */
export async function enter(
  context: Context,
  services: Needed,
  work: (caller: Caller) => Promise<void>,
): Promise<void> {
  const caller = await identify(context, services)
  refuseRefused(caller, services)
  const taken = services.slots.take(caller.accountId)
  const leave = taken instanceof Promise ? await taken : taken
  context.checkAgain = () => refuseRefused(caller, services)
  try {
    if (taken instanceof Promise) expectCaller(context)
    await work(caller)
  } catch (error) {
    if (!context.isAccepted) countRefusal(error, context.bodyBytes, caller, services)
    throw error
  } finally {
    leave()
  }
}

/**
 * Runs `work` for a message on the connection of a request, with the caller as it is now. A
 * refusal counts as that of a request; a request that `work` starts counts its own. Throws as
 * `identify`, 429 beyond the limit of refusals, or as `work`.
 */
export async function enterMessage(
  context: Context,
  services: NeededForRefusals,
  message: Waiting & { readonly bytes: number },
  work: (caller: Caller) => Promise<void>,
): Promise<void> {
  const caller = await identify(context, services, message)
  refuseRefused(caller, services)
  try {
    await work(caller)
  } catch (error) {
    countRefusal(error, message.bytes, caller, services)
    throw error
  }
}

function limitsOf({ accountId, keyId, limitKeyId = keyId }: Caller, { limits }: NeededForRefusals) {
  const { refusalsPerMinute } = limits
  return [
    { subject: accountId, what: 'account', perMinute: refusalsPerMinute },
    { subject: limitKeyId, what: 'key', perMinute: Math.ceil(refusalsPerMinute * KEY_SHARE) },
  ]
}

/** Throws 429 for a caller of whom too much was refused within a minute. */
function refuseRefused(caller: Caller, services: NeededForRefusals): void {
  for (const { subject, what, perMinute } of limitsOf(caller, services)) {
    const retryAfterSeconds = services.limiter.wait(subject, perMinute)
    if (retryAfterSeconds === 0) continue
    const message = `too many requests of this ${what} were refused: mend what they ask for`
    throw new GatewayError('rate_limited', { message, retryAfterSeconds })
  }
}

/** Throws for a caller who has left while the request waited: nothing of it was read. */
function expectCaller(context: Context): void {
  context.checkAgain?.()
  if (context.end) throw new GatewayError('unavailable', { cause: 'the caller has left' })
}

/** Faults of the gateway do not count. */
function countRefusal(
  error: unknown,
  bodyBytes: number,
  caller: Caller,
  services: NeededForRefusals,
): void {
  if (!(error instanceof GatewayError) || error.status >= 500) return
  const units = 1 + Math.floor(bodyBytes / BYTES_PER_UNIT)
  for (const { subject, perMinute } of limitsOf(caller, services)) {
    services.limiter.add(subject, perMinute, units)
  }
}
