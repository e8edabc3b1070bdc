/**
 * The follow-up call to a chat model about an upstream's result, for example for a summary. It uses
 * the task's own hold, is committed before it is sent, and is made at most three times over all
 * processes; only the delivered one is charged.
 */

import { newId } from '../../../base/lib/ids.ts'
import { asString, tryParseJson } from '../../../base/lib/json.ts'
import { failpoint } from '../../../base/lib/process/failpoint.ts'
import { estimateTokens } from '../../../base/lib/text/estimate-tokens.ts'
import {
  INPUT_UNITS,
  OUTPUT_UNITS,
  type Quantities,
  sumOf,
  type Unit,
} from '../../../base/lib/units.ts'
import { readPrices } from '../../../money/catalog/load/load-model.ts'
import { scanJson } from '../../../wire/dialects/json-scan.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { TaskPoll } from '../../../wire/upstreams/task-driver.ts'
import { openAnswer } from '../../pipeline/answer/open-answer.ts'
import { openRoom } from '../../pipeline/answer/receive-whole.ts'
import { orderRoutes, type UsableRoute } from '../../pipeline/request/find-routes.ts'
import { reportAttempt } from '../../pipeline/send/dispatch.ts'
import { type Engine, openTaskWire } from '../engine.ts'
import { isStored } from '../finish/charge-task.ts'
import type { FollowUp } from '../submission.ts'
import type { ClaimedTask } from '../task.ts'
import { addEvent } from '../timeline-store.ts'
import { beginTaskCall, countTaskCalls, endTaskCall } from './model-call-store.ts'
import { untilStopped } from './until-stopped.ts'

const CALLS_MAX = 3
/** A model takes one or two minutes to summarize two hours of speech. */
const CALL_MS = 180_000
const ANSWER_BYTES_MAX = 4 * 1024 * 1024

type Success = Extract<TaskPoll, { state: 'succeeded' }>

/**
 * Returns the upstream's success completed by the follow-up call; undefined if the call must be
 * retried at the next poll. Without a usable model, the result lacks that part and its charge.
 */
export async function askModel(
  engine: Engine,
  task: ClaimedTask,
  poll: Success,
): Promise<Success | undefined> {
  const followUp = engine.submissions.get(task.endpoint)?.followUp
  const details = engine.services.catalog.snapshot().models.get(task.model)?.details ?? {}
  const model = followUp && asString(details[followUp.setting])
  if (followUp && model) return await runFollowUp(engine, task, poll, followUp, model)
  // The operator has removed the follow-up model since the hold was taken; the hold covers its
  // tokens.
  const isHeldFor = task.quantities.output_token !== undefined
  return followUp && isHeldFor ? withoutAnswer(poll, followUp, 'no_model') : poll
}

async function runFollowUp(
  engine: Engine,
  task: ClaimedTask,
  poll: Success,
  followUp: FollowUp,
  model: string,
): Promise<Success | undefined> {
  const body = followUp.request(poll.result, task)
  const [route] = orderRoutes(findRoutes(engine, model), engine.services)
  if (!route || body === undefined) return withoutAnswer(poll, followUp, 'no_model')
  if ((await countTaskCalls(engine.sql, task.id)) >= CALLS_MAX) {
    await addEvent(engine.sql, task.id, 'model_given_up', { model })
    return withoutAnswer(poll, followUp, 'failed')
  }
  const id = newId('att')
  const { upstreamModel, channel: channelId } = route
  const { id: taskId, account_id: accountId, fence } = task
  const call = { id, taskId, accountId, fence, channelId, upstreamModel }
  if ((await beginTaskCall(engine.sql, call)) === undefined) return undefined
  failpoint('task-model-sending')
  engine.calling.add(task.id)
  try {
    const answer = send(engine, task, route, model, body)
    const { text, usage, estimated } = await untilStopped(engine.services, answer)
    failpoint('task-model-answered')
    reportAttempt(route, undefined, engine.services, task)
    await endTaskCall(engine.sql, id, 'answered', null)
    await addEvent(engine.sql, task.id, 'model_answered', { model })
    return {
      ...poll,
      result: { ...poll.result, ...followUp.read(text, poll.result) },
      usage: { ...poll.measured, ...poll.usage, ...countAsPriced(task, usage) },
      measured: { ...poll.measured, ...estimated },
    }
  } catch (error) {
    await noteFailure(engine, task, route, id, error)
    return undefined
  } finally {
    engine.calling.delete(task.id)
  }
}

async function noteFailure(
  engine: Engine,
  task: ClaimedTask,
  route: UsableRoute,
  id: string,
  error: unknown,
): Promise<void> {
  const failure =
    error instanceof UpstreamFailure ? error : new UpstreamFailure('unknown', { cause: error })
  reportAttempt(route, failure, engine.services, task)
  const { message = failure.kind } = failure.details
  await endTaskCall(engine.sql, id, failure.kind === 'unknown' ? 'unknown' : 'refused', message)
  await addEvent(engine.sql, task.id, 'model_failed', { reason: failure.kind })
}

/** Returns the success with the reason why a part is missing, and without tokens to charge. */
function withoutAnswer(poll: Success, { setting }: FollowUp, reason: string): Success {
  const usage = poll.usage ?? poll.measured
  const noTokens = { input_token: 0, output_token: 0 }
  return {
    ...poll,
    result: { ...poll.result, [`${setting}_error`]: reason },
    ...(usage === undefined ? { measured: noTokens } : { usage: { ...usage, ...noTokens } }),
  }
}

/** Returns the model's routes that accept chat completions now. */
function findRoutes({ services }: Engine, id: string): UsableRoute[] {
  const { models, channels } = services.catalog.snapshot()
  return (models.get(id)?.routes ?? []).flatMap((route) => {
    const target = channels.get(route.channel)
    const chat = target && !target.isPaused && services.upstreams.get(target.upstream)?.calls.chat
    return target && chat ? [{ ...route, target }] : []
  })
}

interface ModelAnswer {
  readonly text: string
  /** Usage that the upstream states; empty if it states none. */
  readonly usage: Quantities
  /** Charged where no usage is stated. */
  readonly estimated: Quantities
}

async function send(
  engine: Engine,
  task: ClaimedTask,
  route: UsableRoute,
  model: string,
  completion: Readonly<Record<string, unknown>>,
): Promise<ModelAnswer> {
  const chat = engine.services.upstreams.get(route.target.upstream)?.calls.chat
  if (!chat) throw new UpstreamFailure('channel_fault')
  const value = { model, ...completion, stream: false }
  const body = Buffer.from(JSON.stringify(value))
  const scan = scanJson(body)
  if (!scan.ok) throw new UpstreamFailure('rejected', { message: 'the request is too large' })
  const answer = await chat(openTaskWire(engine, task, CALL_MS), {
    settings: route.target.settings,
    upstreamModel: route.upstreamModel,
    request: {
      body,
      value,
      fields: scan.fields,
      headers: {},
      model,
      stream: false,
      requestId: task.request_id,
      createdAtSeconds: Math.floor(Date.now() / 1000),
      estimateInputTokens: () => Math.ceil(body.length / 3),
    },
  })
  const room = openRoom(engine.services, task.account_id)
  const opened = await openAnswer(
    { ...answer, stream: false },
    { ...room, bytesMax: ANSWER_BYTES_MAX },
  ).finally(room.release)
  if (opened.kind !== 'whole' || opened.report.error) {
    throw new UpstreamFailure('failed', { message: opened.kind })
  }
  const text = textOf(tryParseJson(opened.body))
  if (text === undefined) throw new UpstreamFailure('failed', { message: 'an empty answer' })
  const estimated = {
    input_token: estimateTokens(JSON.stringify(completion)),
    output_token: estimateTokens(text),
  }
  return { text, usage: opened.report.usage ?? {}, estimated }
}

/** Counts tokens of a kind without a price, such as cached ones, as plain input or output. */
function countAsPriced(task: ClaimedTask, usage: Quantities): Quantities {
  const prices = isStored(task.prices) ? readPrices(task.prices, task.kind) : []
  const priced = new Set(prices.map(({ unit }) => unit))
  const countSide = (plain: Unit, side: readonly Unit[]): Quantities => {
    const stated = side.filter((unit) => usage[unit] !== undefined)
    if (stated.length === 0) return {}
    const apart = stated.filter((unit) => unit !== plain && priced.has(unit))
    const rest = stated.filter((unit) => !apart.includes(unit))
    const own = apart.map((unit) => [unit, usage[unit]] as const)
    return { [plain]: sumOf(usage, rest), ...Object.fromEntries(own) }
  }
  return {
    ...countSide('input_token', INPUT_UNITS),
    ...countSide('output_token', OUTPUT_UNITS),
  }
}

function textOf(document: unknown): string | undefined {
  const { choices } = document as { choices?: { message?: { content?: unknown } }[] }
  const content = choices?.[0]?.message?.content
  return typeof content === 'string' && content.trim() !== '' ? content : undefined
}
