/**
 * Judges an answer to a creation that has an id beside an error: the vendor may have the task and
 * bill it, or the id is that of the request alone. A poll decides.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { readCreationFailure, UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { SubmittedTask, TaskPoll } from '../../../wire/upstreams/task-driver.ts'
import { type Engine, openTaskUpstream, taskReferenceOf } from '../engine.ts'
import type { ClaimedTask } from '../task.ts'
import { LOOK_UP_PAUSES } from './recovery-method.ts'

/** Returns why the vendor has no such task; undefined if it has it, or does not say so. */
export async function judgeAnswer(
  engine: Engine,
  task: ClaimedTask,
  { upstreamId, refusal }: SubmittedTask,
): Promise<UpstreamFailure | undefined> {
  if (!refusal) return undefined
  for (const pause of LOOK_UP_PAUSES) {
    await sleep(pause * engine.times.pollMsMin)
    const polled = await pollNamed(engine, task, upstreamId)
    if (polled?.state === 'failed' && polled.isBilled !== true) break
    if (polled?.state !== 'gone') return undefined
  }
  const failure = readCreationFailure(refusal)
  if (failure.kind !== 'unknown') return failure
  return new UpstreamFailure('failed', { ...failure.details, cause: failure })
}

/** Polls the task of an id; undefined if the vendor states nothing. */
async function pollNamed(
  engine: Engine,
  task: ClaimedTask,
  upstreamId: string,
): Promise<TaskPoll | undefined> {
  try {
    const { driver, wire, settings } = await openTaskUpstream(engine, task)
    return await driver.poll(wire, taskReferenceOf(task, settings, upstreamId))
  } catch (error) {
    engine.services.log.warn({ task_id: task.id, error }, 'the look-up of a task failed')
    return undefined
  }
}
