/**
 * What remains to be done when the upstream is ready: a question to a model about its result, for
 * example for a summary. It goes over the task's own hold, is committed before it is sent, and is
 * made at most three times over all processes: the caller pays the one that was delivered.
 */
import { scanJson } from '../../dialects/json-scan.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { newId } from '../../lib/ids.ts'
import { asString, tryParseJson } from '../../lib/json.ts'
import { estimateTokens } from '../../lib/text/estimate-tokens.ts'
import { INPUT_UNITS, OUTPUT_UNITS, type Quantities, type Unit } from '../../lib/units.ts'
import { openAnswer } from '../../pipeline/answer/open-answer.ts'
import type { UsableRoute } from '../../pipeline/request/resolve.ts'
import { note, orderRoutes } from '../../pipeline/send/dispatch.ts'
import { UpstreamFailure } from '../../upstreams/failure.ts'
import type { TaskPoll } from '../../upstreams/task-driver.ts'
import { type Engine, openTaskWire } from '../engine.ts'
import type { Afterwards } from '../submission.ts'
import type { ClaimedTask } from '../task.ts'
import { addEvent } from '../timeline-store.ts'
import { beginTaskCall, countTaskCalls, endTaskCall } from './model-call-store.ts'
import { untilStopped } from './until-stopped.ts'

const CALLS_MAX = 3
/** A summary of two hours takes a model a minute or two. */
const CALL_MS = 180_000
const ANSWER_BYTES_MAX = 4 * 1024 * 1024

type Success = Extract<TaskPoll, { state: 'succeeded' }>

/**
 * The upstream's success, completed. Undefined when it must be tried again at the next poll. A
 * model that cannot be had leaves the result without its part, and without its cost.
 */
export async function askModel(
  engine: Engine,
  task: ClaimedTask,
  poll: Success,
): Promise<Success | undefined> {
  const afterwards = engine.submissions.get(task.endpoint)?.afterwards
  const details = engine.services.catalog.snapshot().models.get(task.model)?.details ?? {}
  const model = afterwards && asString(details[afterwards.setting])
  return afterwards && model ? await ask(engine, task, poll, afterwards, model) : poll
}

async function ask(
  engine: Engine,
  task: ClaimedTask,
  poll: Success,
  afterwards: Afterwards,
  model: string,
): Promise<Success | undefined> {
  const question = afterwards.ask(poll.result, task)
  const [route] = orderRoutes(findRoutes(engine, model), engine.services)
  if (!route || question === undefined) return without(poll, afterwards, 'no_model')
  if ((await countTaskCalls(engine.sql, task.id)) >= CALLS_MAX) {
    await addEvent(engine.sql, task.id, 'model_given_up', { model })
    return without(poll, afterwards, 'failed')
  }
  const id = newId('att')
  const { upstreamModel, channel: channelId } = route
  const call = { id, taskId: task.id, fence: task.fence, channelId, upstreamModel }
  if ((await beginTaskCall(engine.sql, call)) === undefined) return undefined
  failpoint('task-model-sending')
  try {
    const sent = send(engine, task, route, model, question)
    const { text, usage, estimated } = await untilStopped(engine.services, sent)
    failpoint('task-model-answered')
    note(route, undefined, engine.services)
    await endTaskCall(engine.sql, id, 'answered', null)
    await addEvent(engine.sql, task.id, 'model_answered', { model })
    return {
      ...poll,
      result: { ...poll.result, ...afterwards.read(text, poll.result) },
      usage: { ...poll.measured, ...poll.usage, ...usage },
      measured: { ...poll.measured, ...estimated },
    }
  } catch (error) {
    await noteFailure(engine, task, route, id, error)
    return undefined
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
  note(route, failure, engine.services)
  const { message = failure.kind } = failure.details
  await endTaskCall(engine.sql, id, failure.kind === 'unknown' ? 'unknown' : 'refused', message)
  await addEvent(engine.sql, task.id, 'model_failed', { reason: failure.kind })
}

/** Nothing of the model's is charged, and the result says what is missing. */
function without(poll: Success, { setting }: Afterwards, reason: string): Success {
  const usage = poll.usage ?? poll.measured
  const none = { input_token: 0, output_token: 0 }
  return {
    ...poll,
    result: { ...poll.result, [`${setting}_error`]: reason },
    ...(usage === undefined ? { measured: none } : { usage: { ...usage, ...none } }),
  }
}

/** Routes of the model that take chat completions now. */
function findRoutes({ services }: Engine, id: string): UsableRoute[] {
  const { models, channels } = services.catalog.snapshot()
  return (models.get(id)?.routes ?? []).flatMap((route) => {
    const target = channels.get(route.channel)
    const chat = target && services.upstreams.get(target.upstream)?.calls.chat
    return target && chat ? [{ ...route, target }] : []
  })
}

interface ModelAnswer {
  readonly text: string
  /** As the upstream states it: empty when it does not. */
  readonly usage: Quantities
  /** Charged in its place then. */
  readonly estimated: Quantities
}

async function send(
  engine: Engine,
  task: ClaimedTask,
  route: UsableRoute,
  model: string,
  question: Readonly<Record<string, unknown>>,
): Promise<ModelAnswer> {
  const chat = engine.services.upstreams.get(route.target.upstream)?.calls.chat
  if (!chat) throw new UpstreamFailure('channel_fault')
  const value = { model, ...question, stream: false }
  const body = Buffer.from(JSON.stringify(value))
  const scan = scanJson(body)
  if (!scan.ok) throw new UpstreamFailure('rejected', { message: 'the question is too large' })
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
  const opened = await openAnswer({ ...answer, stream: false }, ANSWER_BYTES_MAX)
  if (opened.kind !== 'whole' || opened.report.error) {
    throw new UpstreamFailure('failed', { message: opened.kind })
  }
  const text = textOf(tryParseJson(opened.body))
  if (text === undefined) throw new UpstreamFailure('failed', { message: 'an empty answer' })
  const estimated = {
    input_token: estimateTokens(JSON.stringify(question)),
    output_token: estimateTokens(text),
  }
  return { text, usage: sumTokens(opened.report.usage), estimated }
}

/** A task's prices know no caches: what came from one is input like the rest. */
function sumTokens(usage: Quantities | undefined): Quantities {
  if (!usage) return {}
  const sum = (units: readonly Unit[]) =>
    units.reduce((total, unit) => total + (usage[unit] ?? 0), 0)
  const isStated = (units: readonly Unit[]) => units.some((unit) => usage[unit] !== undefined)
  return {
    ...(isStated(INPUT_UNITS) ? { input_token: sum(INPUT_UNITS) } : {}),
    ...(isStated(OUTPUT_UNITS) ? { output_token: sum(OUTPUT_UNITS) } : {}),
  }
}

function textOf(document: unknown): string | undefined {
  const { choices } = document as { choices?: { message?: { content?: unknown } }[] }
  const content = choices?.[0]?.message?.content
  return typeof content === 'string' && content.trim() !== '' ? content : undefined
}
