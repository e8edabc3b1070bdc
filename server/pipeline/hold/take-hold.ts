/** Verb 5: freeze the money, durably, before anything is sent. */
import type { Caller } from '../../accounts/accounts.ts'
import { type Context, timed } from '../../http/context.ts'
import type { Hold } from '../../ledger/holds/hold.ts'
import type { HoldResult } from '../../ledger/ledger.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { Metering } from '../metering.ts'
import type { ResolvedCall } from '../request/resolve.ts'
import type { Services } from '../services.ts'
import type { Quote } from './quote.ts'

/** What an earlier request with the same Idempotency-Key was answered with. */
export interface Replay {
  readonly requestId: string
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
}

/**
 * The answer of an earlier request under the same Idempotency-Key, if there is one to repeat.
 * Throws 409 while that request runs or when its answer was a stream, 422 when it was another
 * request.
 */
export async function findReplay(
  caller: Caller,
  call: ResolvedCall,
  services: Services,
): Promise<Replay | undefined> {
  const claim = call.idempotency
  if (!claim) return undefined
  const row = await services.ledger.findAnswer(caller.accountId, claim.key)
  if (!row) return undefined
  if (row.route !== claim.route || !row.fingerprint.equals(claim.fingerprint)) {
    throw new GatewayError('idempotency_mismatch')
  }
  if (row.state === 'running' || row.state === 'lost') throw stillRunning(row.request_id)
  if (row.state === 'streamed' || row.body === null || row.status === null) {
    throw new GatewayError('conflict', {
      message: `this request was answered as ${row.request_id} and its answer is not kept`,
    })
  }
  return {
    requestId: row.request_id,
    status: row.status,
    contentType: row.content_type ?? 'application/json',
    body: row.body,
  }
}

function stillRunning(requestId?: string): GatewayError {
  const running = requestId === undefined ? '' : ` as ${requestId}`
  return new GatewayError('conflict', {
    message: `a request with this Idempotency-Key is still running${running}: repeat it later`,
    retryAfterSeconds: 1,
    retry: true,
  })
}

/** Takes the hold. Throws 402, 403 (spend limit), 409 or 503. */
export async function takeHold(
  context: Context,
  metering: Metering,
  caller: Caller,
  call: ResolvedCall,
  quoted: Quote,
  services: Services,
): Promise<Hold> {
  const result = await timed(context, 'hold', () =>
    services.ledger.hold({
      requestId: context.requestId,
      accountId: caller.accountId,
      keyId: caller.keyId,
      endpoint: metering.endpoint,
      model: call.model.id,
      priceVersion: call.model.priceVersion,
      amountNanos: quoted.amountNanos,
      estimate: quoted.quantities,
      spendLimitNanos: caller.spendLimitNanos,
      idempotency: call.idempotency,
    }),
  )
  if ('hold' in result) return result.hold
  // Another request took the key a moment ago: it is told by its id.
  if (result.refused === 'duplicate') await findReplay(caller, call, services)
  throw refusedHold(result.refused)
}

type Refused = Extract<HoldResult, { refused: unknown }>['refused']

/** What a caller is told whose money could not be frozen: 402, or 409 for a key in use. */
export function refusedHold(refused: Refused): GatewayError {
  switch (refused) {
    case 'insufficient':
    case 'in_debt':
    case 'no_account':
      return new GatewayError('insufficient_balance')
    case 'spend_limit':
      return new GatewayError('insufficient_balance', {
        message: 'the spend limit of this API key is reached',
        code: 'spend_limit_reached',
      })
    case 'duplicate':
      return stillRunning()
  }
}
