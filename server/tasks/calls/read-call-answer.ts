/** From the answer of a deferred call to the task's end: its result, its usage, what is kept. */
import type { ResultContent } from '../../assets/library/keep-content.ts'
import type { PriceEntry } from '../../catalog/catalog.ts'
import { readPrices } from '../../catalog/load/load-model.ts'
import type { JsonObject } from '../../lib/json.ts'
import { tryParseJson } from '../../lib/json.ts'
import type { WholeAnswer } from '../../pipeline/answer/open-answer.ts'
import { preferAsked } from '../../pipeline/price/prefer-requested.ts'
import type { CallRequest } from '../../upstreams/upstream.ts'
import type { Engine } from '../engine.ts'
import { isStored, type TaskEnding } from '../finish/charge-task.ts'
import { hideInEnding } from '../finish/hide-in-ending.ts'
import type { DeferredCall } from '../submission.ts'
import type { ClaimedTask } from '../task.ts'

export interface CallEnding {
  readonly ending: TaskEnding
  readonly kept: readonly ResultContent[]
  /** Of the request, for whoever hears of the end: it is not kept with the task. */
  readonly remembered: JsonObject
}

/** Throws GatewayError when content could not be kept; then nothing of it stays. */
export async function readCallAnswer(
  engine: Engine,
  task: ClaimedTask,
  call: DeferredCall,
  request: CallRequest,
  { body, report }: WholeAnswer,
): Promise<CallEnding> {
  const kept: ResultContent[] = []
  const { keepContent, discard } = engine.ports
  async function keep(bytes: Buffer): Promise<string> {
    if (!keepContent) throw new Error('there is no storage')
    const one = await keepContent(task.account_id, bytes)
    kept.push(one)
    return one.url
  }
  const remembered = call.remember(request.value)
  try {
    const read = await call.read(tryParseJson(body), { keep, byToken: isByToken(task) })
    if ('message' in read) {
      const ending = hideInEnding({ state: 'failed', ...read }, request.body)
      return { ending, kept, remembered }
    }
    const ending: TaskEnding = {
      state: 'succeeded',
      result: read.result,
      ...(report.usage ? { usage: report.usage } : {}),
      measured: call.metering.fallback(request, report, true),
      facts: preferAsked(pricesOf(task), task.facts, report.facts ?? {}),
    }
    return { ending, kept, remembered }
  } catch (error) {
    for (const one of kept) await discard?.(one)
    throw error
  }
}

function isByToken(task: ClaimedTask): boolean {
  return pricesOf(task).some(({ unit }) => unit.endsWith('_token'))
}

function pricesOf({ prices }: ClaimedTask): readonly PriceEntry[] {
  return readPrices(isStored(prices) ? prices : [])
}
