/**
 * Verb 3 refuses work that the gateway cannot take; verb 5 takes the hold, durably, before anything
 * is sent. The limits of a call are decided with its hold. Slots are taken on the way in (`enter`).
 */

import { type Context, noteRates, noteTime } from '../../../base/http/context.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { formatAmount } from '../../../base/lib/money.ts'
import { type Quantities, sumOf, TOKEN_UNITS } from '../../../base/lib/units.ts'
import type { Caller } from '../../../money/accounts/accounts.ts'
import type { Model } from '../../../money/catalog/catalog.ts'
import type { HoldLimits, LimitedSubject, OnLeft } from '../../../money/ledger/hold-limits.ts'
import type { Hold } from '../../../money/ledger/holds/hold.ts'
import type { HoldResult, Ledger } from '../../../money/ledger/ledger.ts'
import type { Leave } from '../load/channel-health.ts'
import type { CallSpending } from '../load/channel-spending.ts'
import type { Metering } from '../metering.ts'
import type { Charged } from '../price/charge.ts'
import type { ResolvedCall } from '../request/resolve.ts'
import type { Services } from '../services.ts'
import { countedQuantities } from './counted-quantities.ts'
import { pinBase } from './pin-base.ts'
import type { FallbackCall, Quote } from './quote.ts'

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

/** Returns the limits of a call; undefined without any. */
function limitsOf(
  caller: Caller,
  model: Pick<Model, 'id' | 'limits'>,
  quantities: Quantities,
  onLeft: OnLeft,
): HoldLimits | undefined {
  return collect([...ofCaller(caller), ...ofModel(caller, model)], quantities, onLeft)
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
  return Math.ceil(sumOf(quantities, TOKEN_UNITS))
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
  return [{ name, requests, tokens, calls }]
}

/** The answer of an earlier request with the same Idempotency-Key. */
export interface Replay {
  readonly requestId: string
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
  /** The charge of that request. */
  readonly charged: Charged | undefined
}

/**
 * Returns the answer of an earlier request with the same Idempotency-Key, if any. Throws 409 while
 * that request is running or if its answer was streamed, and 422 if the requests differ.
 */
export async function findReplay(
  context: Context,
  caller: Caller,
  call: ResolvedCall,
  services: Services,
): Promise<Replay | undefined> {
  const claim = call.idempotency
  if (!claim) return undefined
  const row = await services.whileAway(context, () =>
    services.ledger.findAnswer(caller.accountId, claim.key),
  )
  if (!row) return undefined
  if (row.route !== claim.route || !row.fingerprint.equals(claim.fingerprint)) {
    throw new GatewayError('idempotency_mismatch')
  }
  if (row.state === 'running') throw stillRunning(row.request_id)
  if (row.state === 'lost') throw lostCall(row.request_id)
  if (row.state === 'streamed' || row.body === null || row.status === null) {
    throw new GatewayError('conflict', {
      message: `this request was answered as ${row.request_id}, whose answer is not stored`,
    })
  }
  return {
    requestId: row.request_id,
    status: row.status,
    contentType: row.content_type ?? 'application/json',
    body: row.body,
    charged: row.charge ? { ...row.charge, nanos: BigInt(row.charge.nanos) } : undefined,
  }
}

/** The key is free once it is certain that the process no longer serves the request. */
function lostCall(requestId: string): GatewayError {
  return new GatewayError('conflict', {
    message:
      `the gateway process that served this request as ${requestId} was lost, and nothing was ` +
      'charged: this Idempotency-Key is free again after six minutes at most',
    retryAfterSeconds: 30,
    retry: true,
  })
}

function stillRunning(requestId?: string): GatewayError {
  const running = requestId === undefined ? '' : ` as ${requestId}`
  return new GatewayError('conflict', {
    message: `a request with this Idempotency-Key is still running${running}: retry later`,
    retryAfterSeconds: 1,
    retry: true,
  })
}

/** Takes the hold. Throws 402, 409, 429 or 503. */
export async function takeHold(
  context: Context,
  metering: Metering,
  caller: Caller,
  call: ResolvedCall,
  quoted: Quote,
  services: Services,
): Promise<Hold> {
  const startedAt = performance.now()
  const counted = countedQuantities(call.model, quoted.quantities)
  const taking = services.ledger.hold(
    {
      requestId: context.requestId,
      accountId: caller.accountId,
      keyId: caller.keyId,
      endpoint: metering.endpoint,
      model: call.model.id,
      priceVersion: call.model.priceVersion,
      amountNanos: quoted.amountNanos,
      excessNanos: quoted.excessNanos,
      estimate: counted,
      labels: pinBase(context.labels, call.model),
      spendLimitNanos: caller.spendLimitNanos,
      limits: limitsOf(caller, call.model, counted, (left) => noteRates(context, left)),
      idempotency: call.idempotency,
    },
    (attempt) => services.whileAway(context, attempt),
  )
  let result: HoldResult
  try {
    result = await taking
  } finally {
    noteTime(context, 'hold', startedAt)
  }
  if ('hold' in result) {
    context.isAccepted = true
    return result.hold
  }
  // Another request took the key meanwhile: findReplay names it.
  if (result.refused === 'duplicate') await findReplay(context, caller, call, services)
  throw await explainRefusal(result.refused, quoted.amountNanos, caller.accountId, services.ledger)
}

/**
 * Returns the error of a refused hold: 402, 429, or 409 for an Idempotency-Key in use. A 402 states
 * the amount that would have been held and the balance, if these can be read.
 */
export async function explainRefusal(
  refused: Refused,
  amountNanos: bigint,
  accountId: string,
  ledger: Pick<Ledger, 'balance'>,
): Promise<GatewayError> {
  const error = holdRefusal(refused)
  if (error.row !== 'insufficient_balance' || error.details.budget) return error
  const balance = await ledger.balance(accountId).catch(() => undefined)
  if (!balance) return error
  const billing = {
    required: formatAmount(amountNanos),
    available: formatAmount(balance.available),
    debt: formatAmount(balance.debt),
    currency: balance.currency,
  }
  return new GatewayError(error.row, { ...error.details, billing })
}

/** Has no Retry-After: an SDK would sleep until the budget resets. */
function overBudget(words: string): GatewayError {
  const [id = '', resetsAt = ''] = words.split(' ')
  const until = resetsAt === '' ? '' : `, which resets at ${resetsAt}`
  return new GatewayError('insufficient_balance', {
    message: id.startsWith('key_')
      ? 'the spend limit of this API key is reached'
      : `this call does not fit the budget ${id}${until}`,
    code: 'budget_exceeded',
    budget: { budget_id: id, resets_at: resetsAt === '' ? null : resetsAt },
  })
}

type Refused = Extract<HoldResult, { refused: unknown }>['refused']

/** Returns the error of a refused hold: 402, 429, or 409 for an Idempotency-Key in use. */
export function holdRefusal(refused: Refused): GatewayError {
  switch (refused) {
    case 'insufficient':
    case 'in_debt':
    case 'no_account':
      return new GatewayError('insufficient_balance')
    case 'duplicate':
      return stillRunning()
    case 'uncovered':
      return new GatewayError('rate_limited', {
        message:
          'the input is not all in the request, and the balance does not cover what this call ' +
          'and those running may cost: retry when they have ended',
        code: 'input_not_covered',
        retryAfterSeconds: 1,
      })
    case 'too_many_tokens':
      return new GatewayError('rate_limited', {
        message: 'this request may use more tokens than the limit allows in a minute',
        retry: false,
      })
    default:
      if (refused.startsWith('budget:')) return overBudget(refused.slice('budget:'.length))
      return new GatewayError('rate_limited', {
        retryAfterSeconds: Number(refused.slice('limited:'.length)),
      })
  }
}

export interface MeteredCall {
  readonly context: Context
  readonly metering: Metering
  readonly call: ResolvedCall
  readonly hold: Hold
  readonly quoted: Quote
  readonly services: Services
  /** The call as other models would serve it; absent: no other model may. */
  readonly fallbacks?: readonly FallbackCall[]
  /**
   * Counts the call towards the limits of another model. Returns false if one of them is reached.
   */
  readonly admitOther?: (call: FallbackCall) => Promise<boolean>
  /** Keeps a slot of a channel until the call ends. */
  readonly keepSlot?: (leave: Leave) => void
  /** The call's part in the spending of its channel. */
  readonly spending?: CallSpending
}

/** The input of a charge: of a call, or of a task that was quoted like one. */
export interface BillableCall {
  readonly metering: Metering
  readonly call: Pick<ResolvedCall, 'model' | 'request'>
  readonly quoted: Quote
  readonly services: Pick<Services, 'upstreams'>
}
