/**
 * Requests about answers that a vendor keeps or makes. They cost nothing, but no wire opens without
 * a hold: they take one of zero, and so every request that leaves the house has its record. They
 * pass the same limits as any call.
 */
import type { Readable } from 'node:stream'
import type { Caller } from '../accounts/accounts.ts'
import type { Channel, Model } from '../catalog/catalog.ts'
import type { Relay } from '../dialects/relay.ts'
import { type Context, timed } from '../http/context.ts'
import type { Hold } from '../ledger/holds/hold.ts'
import type { Settlement } from '../ledger/requests.ts'
import { GatewayError } from '../lib/errors.ts'
import { asString } from '../lib/json.ts'
import { UpstreamFailure } from '../upstreams/failure.ts'
import { isDocument } from '../upstreams/read-json.ts'
import type { StoredRequest } from '../upstreams/upstream.ts'
import type { WireResponse } from '../upstreams/wire.ts'
import type { Delivered } from './answer/deliver.ts'
import type { StreamAnswer } from './answer/open-answer.ts'
import { readAtMost } from './answer/read-at-most.ts'
import { admit } from './request/admit.ts'
import { openWire } from './send/wire.ts'
import type { Services } from './services.ts'

/** Where the vendor has the answer. */
export interface StoredPlace {
  readonly channel: Channel
  /** Whose limits count too, where it is known. */
  readonly model?: Model | undefined
}

export interface StoredReply {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
}

/** For a whole answer from its request to its last byte. */
const READ_MS = 120_000
/** The answer waits this long for its record; then it goes out, and that follows. */
const PATIENCE_MS = 3_000
/** Statuses that speak of the answer asked for; all others speak of our channel. */
const PASSED = new Set([200, 400, 404, 409])

/** The channel that keeps an answer of this account. Throws 404 for anybody else's. */
export async function findStored(
  accountId: string,
  id: string,
  services: Services,
): Promise<StoredPlace> {
  const found = await services.storedAnswers.find(accountId, id)
  const channel = found && services.catalog.snapshot().channels.get(found.channelId)
  if (!channel) throw noResponse()
  return { channel }
}

function noResponse(): GatewayError {
  return new GatewayError('not_found', { message: 'no such response' })
}

/** Throws 429, 502 when the vendor fails or its answer is too large, 503. */
export async function askStored(
  context: Context,
  caller: Caller,
  place: StoredPlace,
  request: StoredRequest,
  services: Services,
): Promise<StoredReply> {
  const asking = { context, caller, place, request, services }
  return record(asking, READ_MS, async (response) => {
    const reply = await readReply(response, services)
    return { value: reply, ended: describeReply(reply) }
  })
}

export interface StreamUse {
  /** Watches the events. */
  readonly relay: Relay
  readonly deliver: (answer: StreamAnswer) => Promise<Delivered>
}

/**
 * The same for a stream of its events, which `deliver` hands over. Undefined once it has; a reply
 * when the vendor answered with a document instead.
 */
export function streamStored(
  context: Context,
  caller: Caller,
  place: StoredPlace,
  request: StoredRequest,
  services: Services,
  { relay, deliver }: StreamUse,
): Promise<StoredReply | undefined> {
  const asking = { context, caller, place, request: { ...request, stream: true }, services }
  return record(asking, undefined, async (response) => {
    if (response.status !== 200 || isDocument(response)) {
      const reply = await readReply(response, services)
      return { value: reply, ended: describeReply(reply) }
    }
    const { callerGone, end } = await deliver(openStream(response.body, relay))
    const ended: Ended = callerGone
      ? { status: 'cancelled', error: 'the caller left' }
      : end === 'complete'
        ? { status: 'succeeded' }
        : { status: 'failed', error: `the stream was ${end}` }
    return { value: undefined, ended }
  })
}

type Ended = Pick<Settlement, 'status' | 'error'>

interface Asking {
  readonly context: Context
  readonly caller: Caller
  readonly place: StoredPlace
  readonly request: StoredRequest
  readonly services: Services
}

/** Asks under a hold of zero, and writes down how it ended. */
async function record<T>(
  asking: Asking,
  totalTimeoutMs: number | undefined,
  use: (response: WireResponse) => Promise<{ readonly value: T; readonly ended: Ended }>,
): Promise<T> {
  const { context, caller, place, services } = asking
  const leave = admit(caller, place.model, services)
  try {
    const hold = await takeEmptyHold(asking)
    const attempts: object[] = []
    let ended: Ended = { status: 'failed', error: 'upstream provider error' }
    try {
      const response = await send(asking, hold, totalTimeoutMs)
      attempts.push({ channel: place.channel.id, outcome: 'answered', status: response.status })
      const used = await watch(asking, response.body, () => use(response))
      ended = used.ended
      return used.value
    } catch (cause) {
      if (attempts.length === 0) attempts.push({ channel: place.channel.id, outcome: 'failed' })
      ended = context.response.destroyed
        ? { status: 'cancelled', error: 'the caller left' }
        : { status: 'failed', error: cause instanceof UpstreamFailure ? cause.message : 'failed' }
      if (cause instanceof GatewayError) throw cause
      // Nothing is made by asking: it may be asked again.
      throw new GatewayError('upstream_failed', { cause, retry: true, retryAfterSeconds: 1 })
    } finally {
      await close(asking, hold, ended, attempts)
    }
  } finally {
    leave()
  }
}

function send(
  { context, place: { channel }, request, services }: Asking,
  hold: Hold,
  totalTimeoutMs: number | undefined,
): Promise<WireResponse> {
  const ask = services.upstreams.get(channel.upstream)?.stored
  if (!ask) throw noResponse()
  const { dispatcher, limits } = services
  const total = totalTimeoutMs === undefined ? {} : { totalTimeoutMs }
  const wire = openWire(hold, { dispatcher, ...limits, ...total })
  return timed(context, 'upstream', () => ask(wire, channel.settings, request))
}

/** Nobody reads on for a caller that has left, nor for a gateway that stops. */
async function watch<T>(
  { context: { response }, services }: Asking,
  body: Readable,
  use: () => Promise<T>,
): Promise<T> {
  body.on('error', () => undefined)
  const end = () => void body.destroy(new Error('nobody waits for it'))
  const leave = services.inFlight.add({ abort: end })
  response.once('close', end)
  if (response.destroyed) end()
  try {
    return await use()
  } finally {
    response.off('close', end)
    leave()
  }
}

async function readReply(
  { status, headers, body }: WireResponse,
  { limits }: Services,
): Promise<StoredReply> {
  const bytes = await readAtMost(body, limits.answerBytesMax)
  if (!bytes) {
    const message = `an answer over ${limits.answerBytesMax} bytes`
    throw new UpstreamFailure('failed', { message })
  }
  if (!PASSED.has(status)) {
    throw new UpstreamFailure('failed', { status, message: `the vendor answered ${status}` })
  }
  const contentType = asString(headers['content-type']) ?? 'application/json'
  return { status, contentType, body: bytes }
}

function describeReply({ status }: StoredReply): Ended {
  if (status < 400) return { status: 'succeeded' }
  return { status: 'failed', error: `the vendor answered ${status}` }
}

function openStream(body: Readable, relay: Relay): StreamAnswer {
  return {
    kind: 'stream',
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    takeFirst: () => undefined,
    body,
    relay,
    ended: false,
    stopsOnCancel: true,
    cutsWhenBroken: true,
    heartbeat: undefined,
  }
}

async function takeEmptyHold({ context, caller, place, services }: Asking): Promise<Hold> {
  const taken = await services.ledger.hold({
    requestId: context.requestId,
    accountId: caller.accountId,
    keyId: caller.keyId,
    endpoint: 'responses.stored',
    model: place.model?.id ?? '',
    priceVersion: null,
    amountNanos: 0n,
    estimate: {},
    spendLimitNanos: null,
    idempotency: null,
  })
  if ('hold' in taken) return taken.hold
  throw new GatewayError('unavailable', { retryAfterSeconds: 1 })
}

/** The record is queued and will be repeated until it is in; only the answer stops waiting. */
async function close(
  { services, context }: Asking,
  hold: Hold,
  ended: Ended,
  attempts: readonly object[],
): Promise<void> {
  const charge = { chargeNanos: ended.status === 'succeeded' ? 0n : null, basis: 'none', lines: [] }
  const settled = services.ledger.settle(hold, { ...charge, ...ended, attempts }).catch((error) => {
    services.log.error({ request_id: context.requestId, error }, 'a record is not written')
  })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS)
  })
  await Promise.race([settled, late])
  clearTimeout(timer)
}
