/** Operations of endpoints on background responses. */

import type { Context } from '../../../base/http/context.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { asString, member } from '../../../base/lib/json.ts'
import type { Caller } from '../../../money/accounts/accounts.ts'
import type { Channel } from '../../../money/catalog/catalog.ts'
import type { Relay } from '../../../wire/dialects/relay.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { DeliveredStream } from '../../pipeline/answer/deliver.ts'
import type { StreamAnswer } from '../../pipeline/answer/open-answer.ts'
import { toGatewayError } from '../../pipeline/refusal.ts'
import type { ResolvedCall } from '../../pipeline/request/resolve.ts'
import { type Engine, openChannel, refuseOther } from '../engine.ts'
import { applyPolled, rescheduleFailed } from '../next-poll.ts'
import { claimOne } from '../queue-store.ts'
import { isTerminal, type TaskRow } from '../task.ts'
import { findTask } from '../view-store.ts'
import type { BackgroundSubmission } from './background-order.ts'
import { createBackground } from './create-response.ts'
import { readState } from './fetch-response.ts'
import { followResponse } from './follow-stream.ts'
import { RESPONSE } from './poll-response.ts'
import { readValue, settleNow } from './settle-response.ts'

export interface BackgroundTasks {
  /** Creates a response and sends the answer. Rejects with GatewayError for every refusal. */
  create(
    context: Context,
    submission: BackgroundSubmission,
    caller: Caller,
    call: ResolvedCall,
  ): Promise<void>
  /** Finds a response of the account by the vendor's id, or by ours if its answer was lost. */
  find(accountId: string, id: string): Promise<TaskRow | undefined>
  /**
   * Returns a response object of our own if the vendor's answer was lost or the task was closed
   * without it. Undefined if the vendor's object is to be fetched.
   */
  ownObject(task: TaskRow): unknown
  /** Opens the channel version of its creation. Rejects with 502 if it is unusable. */
  channelOf(task: TaskRow): Promise<Channel>
  /** Settles the response if `document`, fetched for a caller, has a final status. */
  read(task: TaskRow, document: unknown): Promise<void>
  /** Polls an open response and returns its new state. Rejects with 502 without an answer. */
  refresh(task: TaskRow): Promise<TaskRow>
  /** Returns a relay that reads a stream of its events. Rejects with 502 if it is unusable. */
  watch(task: TaskRow): Promise<Relay>
  /** Delivers a stream of its events; `isResumed`: not from the first event. */
  follow(
    context: Context,
    answer: StreamAnswer,
    task: TaskRow,
    isResumed: boolean,
  ): Promise<DeliveredStream>
}

/** Error codes of responses that were closed without the vendor's final state. */
const CLOSED_HERE: ReadonlySet<string | null> = new Set([
  'task_expired',
  'response_not_found',
  'submission_unknown',
])

export function createBackgroundTasks(engine: Engine): BackgroundTasks {
  const { sql, services } = engine
  const find = (accountId: string, id: string) => findTask(sql, accountId, id, 'response')
  const channelOf = (task: TaskRow) =>
    openChannel(engine, task).catch((error: unknown) => {
      throw error instanceof UpstreamFailure ? toGatewayError(error) : error
    })
  return {
    create: (context, submission, caller, call) =>
      createBackground(engine, context, submission, caller, call),
    find,
    ownObject(task) {
      const isKnown = task.upstream_id !== null && !CLOSED_HERE.has(task.error_code)
      return isKnown ? undefined : engine.submissions.get(task.endpoint)?.answer(task)
    },
    channelOf,
    async read(task, document) {
      if (isTerminal(task.state)) return
      try {
        await refuseOther(engine, task, asString(member(document, 'id')))
        const vendor = readState(document)
        if (vendor.state === 'ended') await settleNow(engine, task, vendor.ended)
      } catch (error) {
        services.log.warn({ task_id: task.id, error }, 'a response is left to a worker')
      }
    },
    async refresh(task) {
      await pollNow(engine, task)
      return (await find(task.account_id, task.id)) ?? task
    },
    async watch(task) {
      const { upstream } = await channelOf(task)
      const relay = services.upstreams
        .get(upstream)
        ?.background?.watch(await readValue(engine, task), task.output_sequence)
      if (!relay) throw new GatewayError('upstream_failed')
      return relay
    },
    follow(context, answer, task, isResumed) {
      // Without sequence numbers, a stream from the start cannot be matched with delivered output.
      const isNew = isResumed || task.output_sequence >= 0
      return followResponse(engine, context, answer, {
        task,
        bytesBefore: isNew ? Number(task.output_bytes) : 0,
      })
    },
  }
}

async function pollNow(engine: Engine, row: TaskRow): Promise<void> {
  const task = await claimOne(engine.sql, row, engine.times.leaseMs)
  if (!task) return
  try {
    await applyPolled(engine, task, RESPONSE, await RESPONSE.poll(engine, task))
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    await rescheduleFailed(engine, task, { dueInMs: engine.times.pollMsMin })
    throw new GatewayError('upstream_failed', { cause: error, retry: true, retryAfterSeconds: 1 })
  }
}
