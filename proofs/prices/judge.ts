/** Compares one call's record with the vendor's book. */

import type { RecordRow } from './books.ts'
import { pricesOf } from './catalog.ts'
import type { Observed } from './drive.ts'
import type { Price } from './lists/book.ts'
import type { Arrival, Case } from './plan.ts'
import { DEFAULT_SERVED, type Sheet } from './sheet.ts'
import { worthOf } from './vendor/bill.ts'

export interface Verdict {
  readonly observed: Observed
  readonly row: RecordRow | undefined
  readonly arrivals: readonly Arrival[]
  readonly charged: bigint
  readonly worth: bigint
  /** The price that the customer pays by, as far as the books agree. */
  readonly price: Price
  /** Problems in words; empty if the books agree. */
  readonly breaks: readonly string[]
}

/** Answers that continue until the gateway gives up. */
const ENDLESS = new Set(['an endless line', 'a drip', 'a flood', 'silence'])

/** Expectations that require the request to reach the vendor. */
const MUST_ARRIVE = new Set(['full', 'beyond', 'unpriced', 'part', 'none'])

/**
 * Judges by what the customer may have to pay: by several prices, if these changed while the call
 * was sent.
 */
export function judge(
  observed: Observed,
  row: RecordRow | undefined,
  arrivals: readonly Arrival[],
  prices: readonly Price[],
): Verdict {
  const verdicts = prices.map((price) => judgeAt(observed, row, arrivals, price))
  const [best] = verdicts.sort((a, b) => a.breaks.length - b.breaks.length)
  if (!best) throw new Error('there is no price to judge by')
  return best
}

function judgeAt(
  observed: Observed,
  row: RecordRow | undefined,
  arrivals: readonly Arrival[],
  price: Price,
): Verdict {
  const { sheet, list } = price
  const charged = row?.charged ?? 0n
  const known = { observed, row, arrivals, charged, price }
  if (!sheet) return { ...known, worth: 0n, breaks: judgeHidden(observed, row, arrivals) }
  const billed = arrivals.filter(({ refused }) => !refused)
  const worth = billed.reduce((sum, { work }) => sum + worthOf(sheet, work), 0n)
  const breaks = [
    ...judgeRecord(observed, row),
    ...(row ? judgeVersion(row, { sheet, list }) : []),
    ...judgeOutcome(observed, row, billed, { sheet, charged }),
    ...judgeAnswer(observed, arrivals),
  ]
  return { ...known, worth, breaks }
}

/** Requires that the pinned version is of the list that decides, with the prices of the book. */
function judgeVersion(
  { price_list: found, prices }: RecordRow,
  { sheet, list }: { readonly sheet: Sheet; readonly list: string },
): string[] {
  if (found !== list) return [`priced by ${found}, must be ${list}`]
  const expected = pricesOf(sheet)
  const isSame =
    prices?.length === expected.length &&
    expected.every(({ unit, per, amount }, at) => {
      const one = prices[at]
      return one?.unit === unit && one.per === per && toNanos(one.amount) === toNanos(amount)
    })
  return isSame ? [] : [`its version asks ${JSON.stringify(prices)}`]
}

/** A hidden model does not exist: a request that is wrong otherwise may be told so instead. */
function judgeHidden(
  { status, text }: Observed,
  row: RecordRow | undefined,
  arrivals: readonly Arrival[],
): string[] {
  if (row || arrivals.length > 0) return ['sent although the model is hidden']
  return status === 404 || status === 400 ? [] : [`answered ${status} for a hidden model: ${text}`]
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
  for (const stated of [statedCharges.header ?? charged, ...statedCharges.body]) {
    if (stated !== charged) breaks.push(`its answer states ${stated}, charged ${charged}`)
  }
  if ((debt ?? 0n) > 0n && row.basis !== 'usage') breaks.push(`debt on basis ${row.basis}`)
  return breaks
}

const WITH_COST = new Set(['chat', 'messages', 'responses'])

/**
 * Returns true for an answer, read to its end, that should state its charge and does not: those of
 * settlements that are late must be few.
 */
export function isUnstated({ testCase, status, isAsked, statedCharges }: Observed): boolean {
  const { dialect, expected, stream, leavesAfter } = testCase
  if (status !== 200 || expected !== 'full' || leavesAfter !== undefined) return false
  const isWhole = !stream && dialect !== 'video' && dialect !== 'speech'
  const { body, withoutCost } = statedCharges
  // A stream without usage in its place has none with a cost.
  const isDue = isAsked && WITH_COST.has(dialect) && (!stream || withoutCost > 0)
  const isMissing = isDue && body.length === 0
  return isMissing || (isWhole && statedCharges.header === undefined)
}

function toNanos(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(9, '0'))
}

function judgeOutcome(
  { testCase }: Observed,
  row: RecordRow | undefined,
  billed: readonly Arrival[],
  { sheet, charged }: { readonly sheet: Sheet; readonly charged: bigint },
): string[] {
  const [arrival, ...more] = billed
  if (testCase.expected === 'refused' && arrival) return ['sent though it has no price']
  if (!arrival || testCase.expected === 'nothing') {
    return charged === 0n ? [] : [`charged ${charged} for nothing`]
  }
  if (!row) return ['sent without a hold']
  const breaks = [
    ...judgeHold(sheet, testCase, row),
    ...judgeCharge(sheet, { row, arrival, charged }, testCase.expected),
  ]
  const isReviewed = testCase.expected === 'beyond' || testCase.expected === 'unpriced'
  if (isReviewed && row.review !== true) breaks.push('not marked for review')
  if (testCase.expected === 'full' && row.review === true) breaks.push('marked for review')
  // After an unusable answer the gateway may try elsewhere; the vendor bills each attempt.
  if (more.length > 0 && testCase.answer.breakage === undefined) breaks.push('sent more than once')
  return breaks
}

/** Requires that the hold covers the request's bytes and limits, however it is written. */
function judgeHold(sheet: Sheet, { holdsFor }: Case, { amount }: RecordRow): string[] {
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
  const worth = worthOf(sheet, arrival.work)
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

/** A member of its own, or the beginning of the text in the flat form. */
const NAMED = /"param":\s*"|"error":\s*"[\w.[\]]+: /

function judgeAnswer({ testCase, status, text }: Observed, arrivals: readonly Arrival[]): string[] {
  const breaks: string[] = []
  const hasArrived = arrivals.length > 0
  if (status === 0) breaks.push(`no answer: ${text.slice(0, 200)}`)
  const isRefusal = status === 400 || (status === 402 && testCase.poor === true)
  if (!hasArrived && !isRefusal) breaks.push(`answered ${status} without asking the vendor`)
  if (testCase.expected === 'refused') {
    if (status !== 400) breaks.push(`answered ${status}, must be 400`)
    else if (!NAMED.test(text) && testCase.dialect !== 'messages') {
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
