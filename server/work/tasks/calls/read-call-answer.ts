/** Reads the end of a task from a deferred call's answer: result, usage and stored content. */
import { type JsonObject, tryParseJson } from '../../../base/lib/json.ts'
import type { CallRequest } from '../../../wire/upstreams/upstream.ts'
import type { ResultContent } from '../../assets/library/keep-content.ts'
import type { WholeAnswer } from '../../pipeline/answer/open-answer.ts'
import type { Engine } from '../engine.ts'
import { isStored, type TaskEnding } from '../finish/charge-task.ts'
import { hideInEnding } from '../finish/finish.ts'
import type { DeferredCall } from '../submission.ts'
import type { ClaimedTask } from '../task.ts'

export interface CallEnding {
  readonly ending: TaskEnding
  readonly contents: readonly ResultContent[]
  /** Members of the request for the gallery entry. */
  readonly galleryDetails: JsonObject
}

/** Rejects with GatewayError if content cannot be stored, after removing all of it. */
export async function readCallAnswer(
  engine: Engine,
  task: ClaimedTask,
  call: DeferredCall,
  request: CallRequest,
  { body, report }: WholeAnswer,
): Promise<CallEnding> {
  const contents: ResultContent[] = []
  const { keepContent, discardContent } = engine.ports
  async function keep(bytes: Buffer): Promise<string> {
    if (!keepContent) throw new Error('there is no storage')
    const content = await keepContent(task.account_id, bytes)
    contents.push(content)
    return content.url
  }
  const galleryDetails = call.galleryDetails(request.value)
  try {
    const read = await call.read(tryParseJson(body), { keep, byToken: isByToken(task) })
    if ('message' in read) {
      const ending = hideInEnding({ state: 'failed', ...read }, request.body)
      return { ending, contents, galleryDetails }
    }
    const ending: TaskEnding = {
      state: 'succeeded',
      result: read.result,
      ...(report.usage ? { usage: report.usage } : {}),
    }
    return { ending, contents, galleryDetails }
  } catch (error) {
    for (const content of contents) await discardContent?.(content)
    throw error
  }
}

function isByToken({ prices }: ClaimedTask): boolean {
  return isStored(prices) && prices.some(({ unit }) => unit.endsWith('_token'))
}
