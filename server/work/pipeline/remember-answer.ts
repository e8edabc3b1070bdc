/**
 * Remembers the ids that came with an answer: only later requests of the same account may name
 * them.
 */

import { INPUT_UNITS, OUTPUT_UNITS, sumOf, type Unit } from '../../base/lib/units.ts'
import type { RelayReport } from '../../wire/dialects/relay.ts'
import type { Services } from './services.ts'

export interface AnsweredCall {
  readonly accountId: string
  readonly channelId: string
  readonly requestId: string
  /** True if the vendor stores the answer under its id. */
  readonly isStored: boolean
  readonly report: Pick<RelayReport, 'answerId' | 'itemIds' | 'keptIds' | 'usage'>
}

/**
 * Stores the account of the answer and its items, and the channel at which they are kept. A failure
 * is logged: a request that names them is then refused.
 */
export async function rememberAnswer(
  { accountId, channelId, requestId, isStored, report }: AnsweredCall,
  { storedAnswers, log }: Pick<Services, 'storedAnswers' | 'log'>,
): Promise<void> {
  const { answerId, itemIds = [], keptIds = [], usage } = report
  const place = { accountId, channelId }
  const work: Promise<void>[] = []
  if (isStored && answerId) {
    const tokens = countReportedTokens(report)
    work.push(storedAnswers.remember({ id: answerId, ...place, tokens }))
  }
  const ofAnswer = { answerId: answerId ?? requestId, ...place }
  if (itemIds.length > 0) {
    const tokens = statedOf(usage, OUTPUT_UNITS)
    work.push(storedAnswers.rememberItems({ ids: itemIds, ...ofAnswer, tokens, isStored }))
  }
  if (keptIds.length > 0) {
    const kept = { ids: keptIds, ...ofAnswer, tokens: null, isStored: true }
    work.push(storedAnswers.rememberItems(kept))
  }
  for (const done of await Promise.allSettled(work)) {
    if (done.status === 'fulfilled') continue
    const fields = { request_id: requestId, error: done.reason }
    log.warn(fields, 'remembering a stored answer failed')
  }
}

/**
 * Returns the tokens that a request continuing the answer has as input again, or null if the
 * upstream did not state both sides.
 */
function countReportedTokens({ usage }: Pick<RelayReport, 'usage'>): number | null {
  const input = statedOf(usage, INPUT_UNITS)
  const output = statedOf(usage, OUTPUT_UNITS)
  if (input === null || output === null) return null
  return Number.isSafeInteger(input + output) ? input + output : null
}

/** Returns the tokens of a side; null if none of its units is stated. */
function statedOf(usage: RelayReport['usage'] = {}, side: readonly Unit[]): number | null {
  if (!side.some((unit) => unit in usage)) return null
  const sum = sumOf(usage, side)
  return Number.isSafeInteger(sum) ? sum : null
}
