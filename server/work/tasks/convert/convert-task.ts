/**
 * Runs one claim of a conversion: converts the recording, then submits the task with it. Nothing is
 * sent to a vendor before the conversion's row is gone, in the commit that says so: after a kill
 * the recording is converted again, or the submission reconciled as any other.
 */

import type { JsonObject } from '../../../base/lib/json.ts'
import { failpoint } from '../../../base/lib/process/failpoint.ts'
import type { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { ConvertedSound } from '../../assets/sound/convert-sound.ts'
import { SoundFault } from '../../assets/sound/sound-fault.ts'
import { toGatewayError } from '../../pipeline/refusal.ts'
import { findRoutes } from '../../pipeline/request/find-routes.ts'
import { readTaskBody } from '../call-store.ts'
import type { Engine } from '../engine.ts'
import { finish } from '../finish/finish.ts'
import { readClaimedTask } from '../store.ts'
import { decodeConversion, type StoredConversion } from '../stored-conversion.ts'
import { type PlannedRoute, planRoutes } from '../submit/plan.ts'
import { nextAttempt, submitTask } from '../submit/submit.ts'
import type { ClaimedTask } from '../task.ts'
import { addEvent } from '../timeline-store.ts'
import { type ClaimedConversion, rescheduleConversion } from './conversion-store.ts'

const ATTEMPTS_MAX = 20
/** If a caller's server does not deliver the file, it is retried for about a minute. */
const DOWNLOADS_MAX = 5
const RETRY_MS_MIN = 2_000
const RETRY_MS_MAX = 60_000
/** Seconds that a recording may last beyond what its header states, and its hold covers. */
const SECONDS_OF_MARGIN = 2

/** Converts and submits. Rejects if the lease is lost or the database is unavailable. */
export async function convertTask(
  engine: Engine,
  claim: ClaimedConversion,
  signal: AbortSignal,
): Promise<void> {
  const task = await readClaimedTask(engine.sql, {
    id: claim.task_id,
    account_id: claim.account_id,
  })
  const body = await readTaskBody(engine.sql, claim.task_id)
  const stored = body && decodeConversion(body)
  if (!task || task.fence !== claim.fence || !stored) throw new Error('the lease was lost')
  const startedMs = performance.now()
  let sound: ConvertedSound
  try {
    failpoint('conversion-begun')
    sound = await convert(engine, task, stored, signal)
  } catch (error) {
    await retryOrFail(engine, task, claim, error, signal)
    return
  }
  failpoint('conversion-done')
  engine.services.metrics.converted('converted')
  const { seconds, bytes } = sound
  const tookMs = Math.round(performance.now() - startedMs)
  const fields = { task_id: task.id, seconds, duration_ms: tookMs }
  engine.services.log.info(fields, 'a recording was converted')
  const event = { seconds: Math.ceil(seconds), bytes, took_ms: tookMs }
  await addEvent(engine.sql, task.id, 'converted', event)
  await submitConverted(engine, task, stored, sound)
}

async function convert(
  { ports, submissions }: Engine,
  task: ClaimedTask,
  { parameters }: StoredConversion,
  signal: AbortSignal,
): Promise<ConvertedSound> {
  const field = submissions.get(task.endpoint)?.recording
  if (!ports.convertSound || !field) throw new Error('this gateway converts no recordings')
  const sound = await ports.convertSound({
    accountId: task.account_id,
    requestId: task.request_id,
    url: String(parameters[field]),
    signal,
  })
  const held = task.quantities.second
  if (held === undefined || sound.seconds <= held + SECONDS_OF_MARGIN) return sound
  const message =
    `the recording lasts ${Math.ceil(sound.seconds)} seconds, and its header states ${held}: ` +
    'repair the file, for example by converting it to mp3'
  throw new SoundFault('not_converted', message)
}

/** Reschedules a conversion that may succeed later; else fails the task and releases its hold. */
async function retryOrFail(
  engine: Engine,
  task: ClaimedTask,
  claim: ClaimedConversion,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  const { services, sql } = engine
  if (signal.aborted) {
    await rescheduleConversion(sql, claim, { dueInMs: 0, counts: false })
    return
  }
  const fault = error instanceof SoundFault ? error : undefined
  const attemptsMax = fault ? DOWNLOADS_MAX : ATTEMPTS_MAX
  const fields = { task_id: task.id, attempt: claim.attempts, error }
  if ((!fault || fault.mayPass) && claim.attempts < attemptsMax) {
    services.metrics.converted('retried')
    if (fault) services.log.info(fields, 'the conversion of a recording will be retried')
    else services.log.warn(fields, 'a recording could not be converted, retrying')
    const dueInMs = Math.min(RETRY_MS_MIN * 2 ** (claim.attempts - 1), RETRY_MS_MAX)
    await rescheduleConversion(sql, claim, { dueInMs, counts: true })
    return
  }
  services.metrics.converted(fault ? 'refused' : 'failed')
  if (fault) services.log.info(fields, 'a recording was refused')
  else services.log.error(fields, 'a recording could not be converted')
  const message = fault?.message ?? 'the gateway could not convert the recording'
  const code = fault?.code ?? 'not_converted'
  await fail(engine, task, { code, message: `${message}; nothing was charged` })
}

async function submitConverted(
  engine: Engine,
  claimed: ClaimedTask,
  stored: StoredConversion,
  sound: ConvertedSound,
): Promise<void> {
  const routes = planConverted(engine, claimed, stored, sound)
  if (!routes) {
    const message = 'no upstream serves this model any longer; nothing was charged'
    await fail(engine, claimed, { code: 'not_submitted', message })
    return
  }
  const { route } = routes[0]
  const isPlanned =
    route.channel === claimed.channel_id && route.target.version === claimed.channel_version
  const task = isPlanned ? claimed : await nextAttempt(engine, claimed, routes[0], 2)
  failpoint('conversion-submitting')
  const submitted = await submitTask(engine, task, routes)
  if ('failure' in submitted) await failRefused(engine, claimed, submitted.failure)
}

/** Plans the submission by the current catalog; the task's own route comes first if it exists. */
function planConverted(
  { services }: Engine,
  task: ClaimedTask,
  { parameters, sent }: StoredConversion,
  { url, seconds }: ConvertedSound,
): readonly [PlannedRoute, ...PlannedRoute[]] | undefined {
  const snapshot = services.catalog.snapshot()
  const model = snapshot.models.get(task.model)
  if (!model) return undefined
  const converted: JsonObject = {
    ...parameters,
    file_url: url,
    file_type: 'audio',
    media_type: 'audio/mpeg',
    recording_seconds: seconds,
  }
  const routes = findRoutes(
    model,
    ({ tasks }) => tasks?.[task.kind] !== undefined,
    snapshot,
    services,
  )
  if (routes.length === 0) return undefined
  const value = Object.fromEntries(sent.map((name) => [name, true]))
  const request = { value, body: Buffer.from(JSON.stringify(parameters)) }
  const planned = planRoutes(task.kind, { model, routes, request }, converted, services)
  const own = planned.findIndex(({ route }) => isOfTask(route, task))
  const [first = planned[0]] = planned.slice(Math.max(0, own))
  return [first, ...planned.filter((one) => one !== first)]
}

function isOfTask({ channel, upstreamModel }: PlannedRoute['route'], task: ClaimedTask): boolean {
  return channel === task.channel_id && upstreamModel === task.upstream_model
}

async function failRefused(
  engine: Engine,
  claimed: ClaimedTask,
  failure: UpstreamFailure,
): Promise<void> {
  const task = (await readClaimedTask(engine.sql, claimed)) ?? claimed
  const code = failure.details.code ?? failure.kind
  await fail(engine, task, { code, message: toGatewayError(failure).message })
}

/** The creation was answered, so the end is in the record and the webhook. */
async function fail(
  engine: Engine,
  task: ClaimedTask,
  { code, message }: { readonly code: string; readonly message: string },
): Promise<void> {
  await finish(engine, task, { state: 'failed', code, message })
}
