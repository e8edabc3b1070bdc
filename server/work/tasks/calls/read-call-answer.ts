/** Reads the end of a task from a deferred call's answer: result, usage and stored content. */

import { type JsonObject, tryParseJson } from '../../../base/lib/json.ts'
import { type Quantities, sideOf, TOKEN_UNITS, type Unit } from '../../../base/lib/units.ts'
import type { PriceEntry } from '../../../money/catalog/catalog.ts'
import { readPrices } from '../../../money/catalog/load/load-model.ts'
import type { RelayReport } from '../../../wire/dialects/relay.ts'
import type { CallRequest } from '../../../wire/upstreams/upstream.ts'
import type { ResultContent } from '../../assets/library/keep-content.ts'
import type { WholeAnswer } from '../../pipeline/answer/open-answer.ts'
import type { Metering } from '../../pipeline/metering.ts'
import { soldCost } from '../../pipeline/price/charge.ts'
import { preferRequested } from '../../pipeline/price/prefer-requested.ts'
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
      ...readUsage(task, call.metering, report),
      measured: call.metering.fallback(request, report, true),
      facts: preferRequested(pricesOf(task), task.facts, report.facts ?? {}),
    }
    return { ending, contents, galleryDetails }
  } catch (error) {
    for (const content of contents) await discardContent?.(content)
    throw error
  }
}

const TOKENS: ReadonlySet<Unit> = new Set(TOKEN_UNITS)

/**
 * Returns the stated usage, with the cost that the vendor stated if the model is sold by it. As in
 * other calls, tokens that the call does not need are not estimated beside what is stated.
 */
function readUsage(
  task: ClaimedTask,
  { needs = [] }: Metering,
  { usage, statedCost, unknownUsage }: RelayReport,
): Pick<Extract<TaskEnding, { state: 'succeeded' }>, 'usage' | 'unknownUsage'> {
  const prices = pricesOf(task)
  const cost = soldCost({ prices, currency: task.currency ?? '' }, statedCost)
  const costUnit = cost === undefined ? {} : { vendor_cost: cost }
  const stated: Quantities = { ...usage, ...costUnit }
  const units = prices.map(({ unit }) => unit)
  const isStated = (unit: Unit) => sideOf(unit).some((one) => stated[one] !== undefined)
  const isEnough = units.filter((unit) => needs.includes(unit)).every(isStated)
  const others = isEnough ? units.filter((unit) => TOKENS.has(unit) && !isStated(unit)) : []
  const none = Object.fromEntries(others.map((unit) => [unit, 0]))
  return {
    ...(usage || cost !== undefined ? { usage: { ...none, ...stated } } : {}),
    unknownUsage,
  }
}

function isByToken(task: ClaimedTask): boolean {
  return pricesOf(task).some(({ unit }) => unit.endsWith('_token'))
}

function pricesOf({ prices }: ClaimedTask): readonly PriceEntry[] {
  return readPrices(isStored(prices) ? prices : [])
}
