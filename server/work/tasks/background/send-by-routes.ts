/**
 * Sends a creation by the first route that accepts it. Each try is an attempt of its own, committed
 * before it is sent; after an unknown outcome there is no other attempt.
 */

import { failpoint } from '../../../base/lib/process/failpoint.ts'
import { admitTaskHold } from '../../../money/ledger/holds/task-holds.ts'
import { refuseIfStated, UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { CallRequest } from '../../../wire/upstreams/upstream.ts'
import type { Wire } from '../../../wire/upstreams/wire.ts'
import { nameTakenOut } from '../../pipeline/answer/name-taken-out.ts'
import { type OpenedAnswer, openAnswer } from '../../pipeline/answer/open-answer.ts'
import { roomOf } from '../../pipeline/answer/receive-whole.ts'
import type { UsableRoute } from '../../pipeline/request/find-routes.ts'
import { Deadline } from '../../pipeline/send/deadline.ts'
import { limitStream, limitWhole, reportAttempt } from '../../pipeline/send/dispatch.ts'
import { openWire } from '../../pipeline/send/wire.ts'
import { rebuildRequest } from '../calls/call-request.ts'
import { toFailure } from '../calls/make-call.ts'
import type { Engine } from '../engine.ts'
import { markSending } from '../store.ts'
import { leaseLost, mayRetry, nextAttempt, recordRefusal } from '../submit/submit.ts'
import type { ClaimedTask } from '../task.ts'
import type { BackgroundOrder } from './background-order.ts'

export type SendOutcome =
  | { readonly task: ClaimedTask; readonly answer: OpenedAnswer }
  | { readonly task: ClaimedTask; readonly failure: UpstreamFailure }

/** Sends a creation. Rejects only if nothing was sent. */
export async function sendByRoutes(
  engine: Engine,
  order: BackgroundOrder,
  created: ClaimedTask,
): Promise<SendOutcome> {
  const { plans } = order
  const request = requestOf(order, created)
  let task = created
  for (let number = 1; ; number += 1) {
    const planned = plans[(number - 1) % plans.length] ?? plans[0]
    if (number > 1) task = await nextAttempt(engine, task, planned, number)
    const outcome = await attempt(engine, order, task, planned.route, request)
    if (!(outcome instanceof UpstreamFailure)) return { task, answer: outcome }
    if (outcome.kind === 'unknown') return { task, failure: outcome }
    await recordRefusal(engine, task, outcome)
    if (!mayRetry(outcome, number, plans.length, engine)) return { task, failure: outcome }
  }
}

/** Returns the request with the body that is stored with the task, and the caller's headers. */
function requestOf({ submission, call }: BackgroundOrder, task: ClaimedTask): CallRequest {
  const { metering, body } = submission.background
  const { value, fields, body: bytes } = rebuildRequest(task, metering, body(call.request))
  return { ...call.request, value, fields, body: bytes }
}

async function attempt(
  engine: Engine,
  { submission, call, context }: BackgroundOrder,
  task: ClaimedTask,
  { target, upstreamModel, channel }: UsableRoute,
  request: CallRequest,
): Promise<OpenedAnswer | UpstreamFailure> {
  const { services, sql, times } = engine
  const { metering } = submission.background
  const adapter = services.upstreams.get(target.upstream)?.calls[metering.operation]
  if (!adapter) return new UpstreamFailure('channel_fault', { message: 'no such operation' })
  failpoint('task-held')
  if (!(await markSending(sql, task, times.leaseMs))) throw leaseLost()
  failpoint('task-sending')
  try {
    const deadline = new Deadline(limitWhole(call, services))
    const wire = openSendingWire(engine, task, call.model.limits, deadline)
    const answer = await adapter(wire, { settings: target.settings, upstreamModel, request })
    const named = nameTakenOut(answer, call, metering.endpoint, services, (count) => count())
    const opened = await openAnswer(named, roomOf(context, services), deadline.leftMs())
    if (opened.kind === 'stream') deadline.extend(limitStream(call, services))
    failpoint('task-sent')
    reportAttempt({ channel }, undefined, services, task)
    return opened
  } catch (error) {
    const failure = refuseIfStated(toFailure(error))
    reportAttempt({ channel }, failure, services, task)
    return failure
  }
}

/** Opens a wire with the timeouts of a call, since a stream lasts as long as its response. */
function openSendingWire(
  { services }: Engine,
  task: ClaimedTask,
  modelLimits: BackgroundOrder['call']['model']['limits'],
  deadline: Deadline,
): Wire {
  const { limits, dispatcher, memory } = services
  const hold = admitTaskHold({
    id: task.hold_id,
    requestId: task.request_id,
    accountId: task.account_id,
    amountNanos: task.hold_amount,
  })
  return openWire(hold, {
    dispatcher,
    room: { memory, account: task.account_id },
    firstByteTimeoutMs: modelLimits.first_byte_timeout_ms ?? limits.firstByteTimeoutMs,
    idleTimeoutMs: modelLimits.idle_timeout_ms ?? limits.idleTimeoutMs,
    deadline,
    connectTimeoutMs: limits.connectTimeoutMs,
    socketsMax: limits.socketsMax,
  })
}
