/**
 * Requests about answers that a vendor stores or generates in the background. They are free, but
 * take a hold of zero: no wire opens without one, and every outgoing request has a usage record.
 * The same limits apply as for any call.
 */
import type { Readable } from 'node:stream'
import { type Context, timed } from '../../base/http/context.ts'
import { GatewayError } from '../../base/lib/errors.ts'
import { asString } from '../../base/lib/json.ts'
import type { Caller } from '../../money/accounts/accounts.ts'
import type { Channel, Model } from '../../money/catalog/catalog.ts'
import type { Hold } from '../../money/ledger/holds/hold.ts'
import type { Settlement } from '../../money/ledger/requests.ts'
import type { Relay } from '../../wire/dialects/relay.ts'
import { UpstreamFailure } from '../../wire/upstreams/failure.ts'
import { isDocument } from '../../wire/upstreams/read-json.ts'
import type { StoredRequest } from '../../wire/upstreams/upstream.ts'
import type { WireResponse } from '../../wire/upstreams/wire.ts'
import { HeldBytes } from './answer/count-held.ts'
import type { DeliveredStream } from './answer/deliver.ts'
import type { StreamAnswer } from './answer/open-answer.ts'
import { readAtMost } from './answer/read-at-most.ts'
import { type AnswerRoom, roomOf } from './answer/receive-whole.ts'
import { admit, holdRefusal, storedLimitsOf } from './hold/take-hold.ts'
import { Deadline } from './send/deadline.ts'
import { openWire } from './send/wire.ts'
import type { Services } from './services.ts'

/** The channel that stores an answer. */
export interface StoredPlace {
  readonly channel: Channel
  /** Its limits apply too, if it is known. */
  readonly model?: Model | undefined
}

export interface StoredReply {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
}

/** Maximum time of a complete answer, and that to the head of a stream. */
const READ_MS = 120_000
/** The reply waits at most this long for its usage record to be committed. */
const RECORD_WAIT_MS_MAX = 3_000
/** Statuses that concern the stored answer; all others concern the channel. */
const PASSED = new Set([200, 400, 404, 409])

/** Returns the channel that stores an answer of this account. Throws 404 for any other id. */
export async function findStoredPlace(
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

/**
 * Sends the request and returns the complete reply. Throws 429, 503, or 502 if the vendor fails or
 * its answer is too large.
 */
export async function sendStoredRequest(
  context: Context,
  caller: Caller,
  place: StoredPlace,
  request: StoredRequest,
  services: Services,
): Promise<StoredReply> {
  const exchange = { context, caller, place, request, services }
  return record(exchange, async (response) => {
    const reply = await readReply(response, context, services)
    return { value: reply, outcome: describeReply(reply) }
  })
}

export interface StreamUse {
  /** Observes the events. */
  readonly relay: Relay
  readonly deliver: (answer: StreamAnswer) => Promise<DeliveredStream>
}

/**
 * Sends the request and passes the stream of events to `deliver`. Resolves to undefined once the
 * stream has ended, or to a reply if the vendor answered with a document.
 */
export function streamStoredAnswer(
  context: Context,
  caller: Caller,
  place: StoredPlace,
  request: StoredRequest,
  services: Services,
  { relay, deliver }: StreamUse,
): Promise<StoredReply | undefined> {
  const exchange = { context, caller, place, request: { ...request, stream: true }, services }
  return record(exchange, async (response, deadline) => {
    if (response.status !== 200 || isDocument(response)) {
      const reply = await readReply(response, context, services)
      return { value: reply, outcome: describeReply(reply) }
    }
    deadline.extend(services.limits.streamTimeoutMs)
    const { callerGone, end } = await deliver(
      openStream(response.body, relay, roomOf(context, services)),
    )
    const outcome: Outcome = callerGone
      ? { status: 'cancelled', error: CALLER_GONE }
      : end === 'complete'
        ? { status: 'succeeded' }
        : { status: 'failed', error: `the stream was ${end}` }
    return { value: undefined, outcome }
  })
}

type Outcome = Pick<Settlement, 'status' | 'error'>

const CALLER_GONE = 'the caller disconnected'

interface StoredExchange {
  readonly context: Context
  readonly caller: Caller
  readonly place: StoredPlace
  readonly request: StoredRequest
  readonly services: Services
}

/** Sends the request under a hold of zero and writes its usage record. */
async function record<T>(
  exchange: StoredExchange,
  use: (
    response: WireResponse,
    deadline: Deadline,
  ) => Promise<{ readonly value: T; readonly outcome: Outcome }>,
): Promise<T> {
  const { context, place, services } = exchange
  admit(services)
  const hold = await takeEmptyHold(exchange)
  const attempts: object[] = []
  let outcome: Outcome = { status: 'failed', error: 'upstream provider error' }
  try {
    const deadline = new Deadline(READ_MS)
    const response = await send(exchange, hold, deadline)
    attempts.push({ channel: place.channel.id, outcome: 'answered', status: response.status })
    const used = await readWhileConnected(exchange, response.body, () => use(response, deadline))
    outcome = used.outcome
    return used.value
  } catch (cause) {
    if (attempts.length === 0) attempts.push({ channel: place.channel.id, outcome: 'failed' })
    outcome = context.response.destroyed
      ? { status: 'cancelled', error: CALLER_GONE }
      : { status: 'failed', error: cause instanceof UpstreamFailure ? cause.message : 'failed' }
    if (cause instanceof GatewayError) throw cause
    // The request generates nothing, so a retry is safe.
    throw new GatewayError('upstream_failed', { cause, retry: true, retryAfterSeconds: 1 })
  } finally {
    await close(exchange, hold, outcome, attempts)
  }
}

function send(
  { context, place: { channel }, request, services }: StoredExchange,
  hold: Hold,
  deadline: Deadline,
): Promise<WireResponse> {
  const adapter = services.upstreams.get(channel.upstream)?.stored
  if (!adapter) throw noResponse()
  const { dispatcher, limits } = services
  const wire = openWire(hold, { dispatcher, room: roomOf(context, services), ...limits, deadline })
  return timed(context, 'upstream', () => adapter(wire, channel.settings, request))
}

/** Destroys the body if the caller disconnects or the gateway stops. */
async function readWhileConnected<T>(
  { context: { response }, services }: StoredExchange,
  body: Readable,
  use: () => Promise<T>,
): Promise<T> {
  body.on('error', () => undefined)
  const end = () => void body.destroy(new Error('the caller disconnected or the gateway stops'))
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
  context: Context,
  services: Services,
): Promise<StoredReply> {
  const room = roomOf(context, services)
  const bytes = await readAtMost(body, room)
  if (!bytes) {
    const message = `an answer over ${room.bytesMax} bytes`
    throw new UpstreamFailure('failed', { message })
  }
  if (!PASSED.has(status)) {
    throw new UpstreamFailure('failed', { status, message: `the vendor answered ${status}` })
  }
  const contentType = asString(headers['content-type']) ?? 'application/json'
  return { status, contentType, body: bytes }
}

function describeReply({ status }: StoredReply): Outcome {
  if (status < 400) return { status: 'succeeded' }
  return { status: 'failed', error: `the vendor answered ${status}` }
}

function openStream(body: Readable, relay: Relay, room: AnswerRoom): StreamAnswer {
  return {
    kind: 'stream',
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    takeFirst: () => ({}),
    body,
    relay,
    held: new HeldBytes(relay, room),
    ended: false,
    stopsOnCancel: true,
    cutsWhenBroken: true,
    heartbeat: undefined,
  }
}

async function takeEmptyHold({ context, caller, place, services }: StoredExchange): Promise<Hold> {
  const taken = await services.ledger.hold({
    requestId: context.requestId,
    accountId: caller.accountId,
    keyId: caller.keyId,
    endpoint: 'responses.stored',
    model: place.model?.id ?? '',
    priceVersion: null,
    amountNanos: 0n,
    estimate: {},
    labels: context.labels,
    spendLimitNanos: null,
    limits: storedLimitsOf(caller, place.model),
    idempotency: null,
  })
  if ('hold' in taken) return taken.hold
  if (taken.refused.startsWith('limited:')) throw holdRefusal(taken.refused)
  throw new GatewayError('unavailable', { retryAfterSeconds: 1 })
}

/** Writes the usage record. It is retried until committed; only the wait for it is limited. */
async function close(
  { services, context }: StoredExchange,
  hold: Hold,
  outcome: Outcome,
  attempts: readonly object[],
): Promise<void> {
  const charge = {
    chargeNanos: outcome.status === 'succeeded' ? 0n : null,
    basis: 'none',
    lines: [],
  }
  const settled = services.ledger
    .settle(hold, { ...charge, ...outcome, attempts })
    .catch((error) => {
      services.log.error({ request_id: context.requestId, error }, 'writing a usage record failed')
    })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, RECORD_WAIT_MS_MAX)
  })
  await Promise.race([settled, late])
  clearTimeout(timer)
}
