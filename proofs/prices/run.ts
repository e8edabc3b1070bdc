/** Runs cases against a stage in batches, judges each, and sums up by kind. */
import { Agent } from 'undici'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { createRandom } from '../../testbed/random.ts'
import { readBalances, readRecords } from './books.ts'
import { generateCases } from './cases/generate.ts'
import { driveCases, type Observed } from './drive.ts'
import { isUnstated, judge, type Verdict } from './judge.ts'
import { isOfPlan, nameOf, priceOf } from './lists/book.ts'
import { type Clerk, hireClerk } from './lists/clerk.ts'
import { judgeUsage } from './lists/read-usage.ts'
import type { Case } from './plan.ts'
import { BALANCE, type ProofStage, type Purse } from './stage.ts'

export interface RunOptions {
  readonly seed: number
  readonly cases: number
  /** The id of the first case, to repeat one alone. */
  readonly first?: number
  readonly concurrency?: number
  /** Stops after the first batch with an exception. */
  readonly untilBreak?: boolean
  /** Prices change by lists while calls run; otherwise they are the base prices. */
  readonly lists?: boolean
  /** Called before each batch: true ends the run early. */
  readonly isOver?: () => boolean
  readonly onBreak?: (verdict: Verdict) => void
  readonly onProgress?: (done: number, breaks: number) => void
}

export interface Tally {
  cases: number
  sent: number
  refused: number
  breaks: number
  /** The first answer to a case that was not sent upstream. */
  refusal?: string
}

export interface ProofResult {
  readonly seed: number
  readonly cases: number
  readonly sent: number
  readonly fullyStated: number
  readonly notStated: number
  readonly debts: number
  readonly reviews: number
  /** The number of 503 answers that were retried. */
  readonly busy: number
  /** Calls and tasks that a list priced. */
  readonly listed: number
  /** Calls and tasks whose customer paid another price by the time they had ended. */
  readonly changedMeanwhile: { readonly calls: number; readonly tasks: number }
  /** Calls and tasks that stood at the begin of a planned change, and at its end. */
  readonly acrossPlans: { readonly begins: number; readonly ends: number }
  /** By the kind of entry that decided. */
  readonly byEntry: Readonly<Record<string, number>>
  /** Answers that state their charge: in a header, and in their usage. */
  readonly stated: { readonly headers: number; readonly bodies: number; readonly none: number }
  readonly changes: Readonly<Record<string, number>>
  readonly worth: bigint
  readonly charged: bigint
  readonly byTrick: ReadonlyMap<string, Tally>
  readonly broken: readonly Verdict[]
  /** Breaks of balances and the audit, and requests without a case. */
  readonly others: readonly string[]
}

const BATCH = 600
const CONCURRENCY = 32
const ACCOUNTS = 4
const CHAIN_BLOCK = 120
const POOR_BALANCE = '0.004'

export async function runProof(stage: ProofStage, options: RunOptions): Promise<ProofResult> {
  const { seed, cases: count, first = 0, concurrency = CONCURRENCY, onProgress } = options
  const dispatcher = new Agent({ connections: concurrency * 2 })
  const rich = await Promise.all(Array.from({ length: ACCOUNTS }, () => stage.createPurse(BALANCE)))
  const purses: Purse[] = [...rich]
  const purseFor = async (one: Case): Promise<Purse> => {
    const usual = rich[Math.floor(one.id / CHAIN_BLOCK) % ACCOUNTS]
    if (usual && !one.poor) return usual
    const purse = await stage.createPurse(POOR_BALANCE)
    purses.push(purse)
    return purse
  }
  const random = createRandom(seed)
  const clerk = options.lists ? await hireClerk(stage, rich, random) : undefined
  if (clerk)
    stage.vendor.onArrival = async (one) => {
      const wait = waitOf(one)
      if (wait === 'change') await clerk.nextChange(await purseFor(one), WAIT_MS_MAX)
      else if (wait) await clerk.untilPlan(wait === 'begin', await purseFor(one), WAIT_MS_MAX)
    }
  const sum = new Sum(options.onBreak)
  for (let at = 0; at < count; at += BATCH) {
    if (options.isOver?.()) break
    const cases = generateCases(seed, first + at, Math.min(BATCH, count - at))
    stage.vendor.expect(cases)
    const hasArrived = (id: number) => stage.vendor.arrivals(id).length > 0
    const untilDue = async (one: Case, purse: Purse) => {
      if (clerk && isForPlans(one)) await clerk.untilPlan(true, purse, WAIT_MS_MAX)
    }
    const driving = { dispatcher, url: stage.url, concurrency, purseFor, untilDue, hasArrived }
    const driven = driveCases(cases, driving)
    const observed = await (clerk ? clerk.during(random, driven) : driven)
    await judgeBatch({ ...stage, clerk }, observed, sum)
    onProgress?.(Math.min(count, at + BATCH), sum.broken.length)
    if (options.untilBreak && sum.broken.length > 0) break
  }
  await dispatcher.destroy()
  const others = [
    ...(await judgeBalances(stage, purses, sum)),
    ...(await judgeAudit(stage)),
    ...stage.vendor.strays.map((text) => `a request of no case: ${text}`),
    ...(stage.gateway.hasExited() ? ['the gateway ended'] : []),
  ]
  return sum.result(seed, others, clerk?.changes() ?? {})
}

/** Some answers are not given before prices have changed: the hold keeps its own. */
const WAIT_EVERY = 60
/** Tasks are few. */
const TASK_WAIT_EVERY = 4
const WAIT_MS_MAX = 5_000

/** Some calls are sent in the middle of a planned change; half of them stand until its end. */
const PLAN_EVERY = 20

function isForPlans({ id, after, poor }: Case): boolean {
  return id % PLAN_EVERY === 0 && after === undefined && !poor
}

/** Returns what a call waits for at the vendor: the begin or end of a plan, or any change. */
function waitOf(one: Case): 'begin' | 'end' | 'change' | undefined {
  const { id, dialect, expected, model, poor } = one
  if (expected !== 'full' || model === 'pp-impatient' || poor) return undefined
  if (isForPlans(one)) return id % (2 * PLAN_EVERY) === 0 ? 'end' : undefined
  if (id % PLAN_EVERY === PLAN_EVERY / 2) return 'begin'
  const every = dialect === 'video' ? TASK_WAIT_EVERY : WAIT_EVERY
  return id % every === every - 1 ? 'change' : undefined
}

async function judgeBatch(
  stage: ProofStage & { readonly clerk: Clerk | undefined },
  observed: readonly Observed[],
  sum: Sum,
): Promise<void> {
  const ids = observed.flatMap(({ requestId, busyIds }) => [...busyIds, requestId ?? []].flat())
  const rows = await readRecords(stage.sql, ids)
  for (const one of observed) {
    const row = one.requestId === undefined ? undefined : rows.get(one.requestId)
    const arrivals = stage.vendor.arrivals(one.testCase.id)
    const paid = one.busyIds.filter((id) => (rows.get(id)?.charged ?? 0n) > 0n)
    const { testCase, purse, startedMs, endedMs } = one
    const pricesAt = (fromMs: number, toMs: number) =>
      stage.clerk?.pricesBetween(purse, testCase.model, fromMs, toMs) ?? [
        priceOf([], testCase.model, 0),
      ]
    const prices = pricesAt(startedMs, arrivals[0]?.atMs ?? endedMs)
    const verdict = judge(one, row, arrivals, prices)
    const closedMs = Math.max(endedMs, row?.closed_at?.getTime() ?? 0)
    const later = pricesAt(closedMs, closedMs)
    const isKept = later.some((price) => nameOf(price) === nameOf(verdict.price))
    if (row && !isKept) sum.addPlans(isOfPlan(verdict.price), later.some(isOfPlan))
    const breaks = [
      ...paid.map((id) => `answered 503 and charged as ${id}`),
      ...(await judgeUsage(stage.url, verdict)),
    ]
    sum.add({ ...verdict, breaks: [...verdict.breaks, ...breaks] }, isKept)
    stage.vendor.forget(one.testCase.id)
  }
}

class Sum {
  readonly broken: Verdict[] = []
  readonly chargedBy = new Map<string, bigint>()
  private readonly byTrick = new Map<string, Tally>()
  private cases = 0
  private busy = 0
  private sent = 0
  private fullyStated = 0
  private notStated = 0
  private debts = 0
  private reviews = 0
  private listed = 0
  private readonly changedMeanwhile = { calls: 0, tasks: 0 }
  private readonly acrossPlans = { begins: 0, ends: 0 }
  private readonly byEntry: Record<string, number> = {}
  private readonly stated = { headers: 0, bodies: 0, none: 0 }
  private worth = 0n
  private charged = 0n

  private readonly onBreak: RunOptions['onBreak']

  constructor(onBreak: RunOptions['onBreak']) {
    this.onBreak = onBreak
  }

  add(verdict: Verdict, isKept: boolean): void {
    const { observed, row, arrivals, charged, worth, breaks, price } = verdict
    const { accountId } = observed.purse
    this.chargedBy.set(accountId, (this.chargedBy.get(accountId) ?? 0n) + charged)
    this.cases += 1
    this.busy += observed.busyIds.length
    if (arrivals.length > 0) this.sent += 1
    if (row && row.price_list !== 'base') this.listed += 1
    const kind = observed.testCase.dialect === 'video' ? 'tasks' : 'calls'
    if (row && !isKept) this.changedMeanwhile[kind] += 1
    this.byEntry[price.by] = (this.byEntry[price.by] ?? 0) + 1
    if (observed.statedCharges.header !== undefined) this.stated.headers += 1
    if (observed.statedCharges.body.length > 0) this.stated.bodies += 1
    if (isUnstated(observed)) this.stated.none += 1
    if (arrivals.length > 0 && observed.testCase.expected === 'full') {
      this.fullyStated += 1
      this.worth += worth
      this.charged += charged
    }
    if (arrivals.length > 0 && ['part', 'none'].includes(observed.testCase.expected))
      this.notStated += 1
    if ((row?.debt ?? 0n) > 0n) this.debts += 1
    if (row?.review) this.reviews += 1
    if (breaks.length > 0) {
      this.broken.push(verdict)
      this.onBreak?.(verdict)
    }
    const names =
      observed.testCase.tricks.length > 0
        ? observed.testCase.tricks
        : [`${observed.testCase.dialect}: ordinary`]
    for (const name of names) this.tally(name, verdict)
  }

  /** Counts a call whose price had changed by its end: whether a plan decided either. */
  addPlans(before: boolean, after: boolean): void {
    if (!before && after) this.acrossPlans.begins += 1
    if (before && !after) this.acrossPlans.ends += 1
  }

  result(seed: number, others: readonly string[], changes: ProofResult['changes']): ProofResult {
    const { cases, sent, fullyStated, notStated, debts, reviews, busy, worth, charged } = this
    const { byTrick, broken, listed, changedMeanwhile, acrossPlans, byEntry, stated } = this
    const counts = {
      listed,
      changedMeanwhile,
      acrossPlans,
      byEntry,
      stated,
      changes,
      cases,
      sent,
      fullyStated,
      notStated,
      debts,
      reviews,
      busy,
    }
    return { seed, ...counts, worth, charged, byTrick, broken, others }
  }

  private tally(name: string, { observed, arrivals, breaks }: Verdict): void {
    const tally = this.byTrick.get(name) ?? { cases: 0, sent: 0, refused: 0, breaks: 0 }
    tally.cases += 1
    if (arrivals.length > 0) tally.sent += 1
    else {
      tally.refused += 1
      tally.refusal ??= `${observed.status} ${observed.text.slice(0, 200)}`
    }
    if (breaks.length > 0) tally.breaks += 1
    this.byTrick.set(name, tally)
  }
}

/** Requires that balances equal payments minus charges, to the nano-unit. */
async function judgeBalances(
  { sql }: ProofStage,
  purses: readonly Purse[],
  { chargedBy }: Sum,
): Promise<string[]> {
  const balances = new Map((await readBalances(sql)).map((row) => [row.account_id, row]))
  return purses.flatMap(({ accountId, opening }) => {
    const row = balances.get(accountId)
    if (!row) return [`account ${accountId} has no balance`]
    const remainingNanos = toNanos(opening) - (chargedBy.get(accountId) ?? 0n)
    const has = row.available + row.held - row.debt
    if (row.held !== 0n) return [`account ${accountId} still holds ${row.held}`]
    return has === remainingNanos
      ? []
      : [`account ${accountId} has ${has}, must have ${remainingNanos}`]
  })
}

function toNanos(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(9, '0'))
}

async function judgeAudit({ sql }: ProofStage): Promise<string[]> {
  const { checks } = await audit(sql)
  return checks
    .filter(({ ok }) => !ok)
    .map(({ id, details }) => `audit ${id}: ${JSON.stringify(details.slice(0, 3))}`)
}
