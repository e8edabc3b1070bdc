/** Redeems codes at a limited rate, so that codes cannot be guessed. */
import type { Context } from '../../../../base/http/context.ts'
import {
  type Redeemed,
  redeemCode,
  UnknownCode,
} from '../../../../money/ledger/redeem/redeem-codes.ts'
import type { Subject } from '../../../sign-in/rates/throttle.ts'
import type { Session } from '../../../sign-in/sessions/session.ts'
import type { AdminServices } from '../../services.ts'

/**
 * Redeems a code. Each attempt counts against the rates of the person, the account and the network
 * address, and is given back unless the code does not exist. Throws 429 with the time to wait, or
 * what `redeemCode` throws.
 */
export async function redeemRateLimited(
  { sql, signIn }: AdminServices,
  { context, session }: { readonly context: Context; readonly session: Session },
  { accountId, code }: { readonly accountId: string; readonly code: string },
): Promise<Redeemed> {
  const { throttle, addresses } = signIn.parts
  const rates: readonly (readonly [Subject, string])[] = [
    ['code', session.user.id],
    ['code', accountId],
    ['codeAddress', addresses.networkOf(context.request)],
  ]
  for (const [subject, name] of rates) await throttle.take(subject, name)
  let isKnown = true
  try {
    return await redeemCode(sql, { code, accountId, actor: session.user.email })
  } catch (error) {
    isKnown = !(error instanceof UnknownCode)
    throw error
  } finally {
    if (isKnown) for (const [subject, name] of rates) await throttle.giveBack(subject, name)
  }
}
