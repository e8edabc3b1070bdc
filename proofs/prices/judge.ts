/** Compares one call's record with the vendor's book. */

import type { RecordRow } from './books.ts'
import type { Observed } from './drive.ts'
import type { Arrival, Case } from './plan.ts'
import { DEFAULT_SERVED, type Sheet, sheetOf } from './sheet.ts'
import { worthOf } from './vendor/bill.ts'

export interface Verdict {
  readonly observed: Observed
  readonly row: RecordRow | undefined
  readonly arrivals: readonly Arrival[]
  readonly charged: bigint
  readonly worth: bigint
  /** Problems in words; empty if the books agree. */
  readonly breaks: readonly string[]
}

/** Answers that continue until the gateway gives up. */
const ENDLESS = new Set(['an endless line', 'a drip', 'a flood', 'silence'])

/** Expectations that require the request to reach the vendor. */
const MUST_ARRIVE = new Set(['full', 'beyond', 'unpriced', 'part', 'none'])

export function judge(
  observed: Observed,
  row: RecordRow | undefined,
  arrivals: readonly Arrival[],
): Verdict {
  const charged = row?.charged ?? 0n
  const billed = arrivals.filter(({ refused }) => !refused)
  const worth = billed.reduce((sum, one) => sum + one.worth, 0n)
  const breaks = [
    ...judgeRecord(observed, row),
    ...judgeOutcome(observed, row, billed, charged),
    ...judgeAnswer(observed, arrivals),
  ]
  return { observed, row, arrivals, charged, worth, breaks }
}

/** Checks the invariants of every record. */
function judgeRecord(observed: Observed, row: RecordRow | undefined): string[] {
  const { requestId, status, statedCharges } = observed
  if (requestId === undefined && status !== 0) return ['an answer without a request id']
  if (!row) return []
  const { state, amount, charged, returned, debt, lines } = row
  const breaks: string[] = []
  if (state === 'open') return ['its hold is still open']
  if (charged === null) return ['closed without a record']
  const sum = (lines ?? []).reduce((total, line) => total + toNanos(line.amount), 0n)
  if (sum !== charged) breaks.push(`its lines add up to ${sum}, charged ${charged}`)
  const back = amount > charged ? amount - charged : 0n
  if (returned !== back) breaks.push(`returned ${returned}, must be ${back}`)
  for (const stated of statedCharges) {
    if (stated !== charged) breaks.push(`its answer states ${stated}, charged ${charged}`)
  }
  if ((debt ?? 0n) > 0n && row.basis !== 'usage') breaks.push(`debt on basis ${row.basis}`)
  return breaks
}

function toNanos(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(9, '0'))
}

function judgeOutcome(
  { testCase }: Observed,
  row: RecordRow | undefined,
  billed: readonly Arrival[],
  charged: bigint,
): string[] {
  const [arrival, ...more] = billed
  if (testCase.expected === 'refused' && arrival) return ['sent though it has no price']
  if (!arrival || testCase.expected === 'nothing') {
    return charged === 0n ? [] : [`charged ${charged} for nothing`]
  }
  if (!row) return ['sent without a hold']
  const breaks = [
    ...judgeHold(testCase, row),
    ...judgeCharge(sheetOf(testCase.model), { row, arrival, charged }, testCase.expected),
  ]
  const isReviewed = testCase.expected === 'beyond' || testCase.expected === 'unpriced'
  if (isReviewed && row.review !== true) breaks.push('not marked for review')
  if (testCase.expected === 'full' && row.review === true) breaks.push('marked for review')
  // After an unusable answer the gateway may try elsewhere; the vendor bills each attempt.
  if (more.length > 0 && testCase.answer.breakage === undefined) breaks.push('sent more than once')
  return breaks
}

/** Requires that the hold covers the request's bytes and limits, however it is written. */
function judgeHold({ model, holdsFor }: Case, { amount }: RecordRow): string[] {
  const sheet = sheetOf(model)
  if (!holdsFor || sheet.cards.length > 1) return []
  const counts = { input_token: holdsFor.input, output_token: holdsFor.output }
  const least = worthOf({ ...sheet, fees: {} }, { counts, served: DEFAULT_SERVED, passes: [] })
  return amount < least ? [`held ${amount}, must be ${least} at least`] : []
}

interface Judged {
  readonly row: RecordRow
  readonly arrival: Arrival
  readonly charged: bigint
}

function judgeCharge(sheet: Sheet, judged: Judged, expected: string): string[] {
  const { row, arrival, charged } = judged
  const { worth } = arrival
  const most = worth > row.amount ? worth : row.amount
  const wrong = (text: string) => [`charged ${charged}, ${text}`]
  switch (expected) {
    case 'full':
      return charged === worth ? [] : wrong(`worth ${worth}`)
    case 'beyond':
      return charged <= worth ? [] : wrong(`stated ${worth}`)
    case 'unpriced':
      return charged >= row.amount && charged <= most ? [] : wrong(`held ${row.amount}`)
    case 'part':
      if (charged < leastOfCut(sheet, judged)) return wrong('as if the start stated the output')
      if (charged > most) return wrong(`most ${most}`)
      return charged < leastOf(sheet, arrival) ? wrong(`stated ${leastOf(sheet, arrival)}`) : []
    default:
      return charged > row.amount ? wrong(`held ${row.amount}`) : []
  }
}

/** Usage stated in a complete answer is charged, whatever else is missing. */
function leastOf(sheet: Sheet, { stated, answer }: Arrival): bigint {
  const isBanded = sheet.cards.some(({ from }) => from !== undefined)
  const isWhole = answer.startsWith('200 {') && !answer.includes('[object')
  return stated === undefined || isBanded || !isWhole ? 0n : worthOf(sheet, stated)
}

/** The delivered words exceed the one token that the start of a message states. */
function leastOfCut(sheet: Sheet, { row, arrival }: Judged): bigint {
  const { stated, path, answer } = arrival
  const isCut = path.endsWith('/messages') && answer.includes('Mekong') && stated !== undefined
  if (!isCut || !answer.includes('"stop_reason":null') || answer.includes('message_delta')) {
    return 0n
  }
  const counts = { ...stated.counts, output_token: 2 }
  const least = worthOf(sheet, { ...stated, counts })
  return least < row.amount ? least : 0n
}

function judgeAnswer({ testCase, status, text }: Observed, arrivals: readonly Arrival[]): string[] {
  const breaks: string[] = []
  const hasArrived = arrivals.length > 0
  if (status === 0) breaks.push(`no answer: ${text.slice(0, 200)}`)
  const isRefusal = status === 400 || (status === 402 && testCase.poor === true)
  if (!hasArrived && !isRefusal) breaks.push(`answered ${status} without asking the vendor`)
  if (testCase.expected === 'refused') {
    if (status !== 400) breaks.push(`answered ${status}, must be 400`)
    else if (!/"param":\s*"/.test(text) && testCase.dialect !== 'messages') {
      breaks.push('refused without naming the field')
    }
  }
  const { breakage = '' } = testCase.answer
  if (ENDLESS.has(breakage) && arrivals.some(({ finished }) => finished)) {
    breaks.push('an answer without an end was not cut')
  }
  const isPlain = testCase.tricks.length === 0
  if (isPlain && MUST_ARRIVE.has(testCase.expected) && !hasArrived) {
    breaks.push(`an ordinary call was not sent: ${status}`)
  }
  const isSold = testCase.tricks.some((name) => name.startsWith('asked: '))
  if (isSold && !hasArrived) breaks.push(`what is sold was refused: ${status} ${text}`)
  return breaks
}
