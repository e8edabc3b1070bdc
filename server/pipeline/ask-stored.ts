/**
 * Questions about answers that a vendor keeps. They cost nothing, but no wire opens without a
 * hold: they take one of zero, and so every request that leaves the house has its record.
 */
import type { Caller } from '../accounts/accounts.ts'
import { GatewayError } from '../errors.ts'
import { type Context, timed } from '../http/context.ts'
import type { Hold } from '../ledger/hold.ts'
import { UpstreamFailure } from '../upstreams/failure.ts'
import type { StoredRequest } from '../upstreams/upstream.ts'
import type { Services } from './services.ts'
import { openWire } from './wire.ts'

export interface StoredReply {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
}

/** Statuses that speak of the answer asked for; all others speak of our channel. */
const PASSED = new Set([200, 400, 404, 409])

/** Throws 404 for what is not this account's, 502 when the vendor fails. */
export async function askStored(
  context: Context,
  caller: Caller,
  request: StoredRequest,
  services: Services,
): Promise<StoredReply> {
  const found = await services.storedAnswers.find(caller.accountId, request.id)
  const channel = found && services.catalog.snapshot().channels.get(found.channelId)
  const ask = channel && services.upstreams.get(channel.upstream)?.stored
  if (!channel || !ask) throw new GatewayError('not_found', { message: 'no such response' })
  const hold = await takeEmptyHold(context, caller, services)
  const attempts: object[] = []
  try {
    const wire = openWire(hold, { dispatcher: services.dispatcher, ...services.limits })
    const response = await timed(context, 'upstream', () => ask(wire, channel.settings, request))
    attempts.push({ channel: channel.id, outcome: 'answered', status: response.status })
    const chunks: Buffer[] = []
    for await (const chunk of response.body) chunks.push(chunk)
    if (!PASSED.has(response.status)) throw new UpstreamFailure('failed')
    const type = response.headers['content-type']
    const contentType = typeof type === 'string' ? type : 'application/json'
    return { status: response.status, contentType, body: Buffer.concat(chunks) }
  } catch (cause) {
    throw new GatewayError('upstream_failed', { cause })
  } finally {
    const settlement = { chargeNanos: 0n, status: 'succeeded', basis: 'none', lines: [] } as const
    await services.ledger.settle(hold, { ...settlement, attempts })
  }
}

async function takeEmptyHold(context: Context, caller: Caller, services: Services): Promise<Hold> {
  const taken = await services.ledger.hold({
    requestId: context.requestId,
    accountId: caller.accountId,
    keyId: caller.keyId,
    endpoint: 'responses.stored',
    model: '',
    priceVersion: null,
    amountNanos: 0n,
    estimate: {},
    spendLimitNanos: null,
    idempotency: null,
  })
  if ('hold' in taken) return taken.hold
  throw new GatewayError('unavailable', { retryAfterSeconds: 1 })
}
