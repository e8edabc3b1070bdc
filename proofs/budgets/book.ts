/**
 * The proof's own book: reads only holds and records, decides by its own rules which budgets and
 * windows each call belongs to, adds them up, and compares the sums with the counters.
 */
import type { Sql } from 'postgres'
import { windowName } from './zones.ts'

export interface BookBudget {
  readonly id: string
  readonly account_id: string
  readonly scope: string
  readonly subject: string
  readonly unit: 'money' | 'call' | 'input_token' | 'output_token'
  readonly period: string
  readonly time_zone: string
  readonly week_start: number
  readonly models: string[] | null
  readonly action: string
  /** The largest amount it ever had. */
  readonly largest: bigint
}

export interface BookKey {
  readonly member: string | null
  readonly tags: readonly string[]
  readonly required: readonly string[]
}

/** A span of the real clock, and how far the budgets' clock was ahead of it. */
export interface ClockSpan {
  readonly from: number
  readonly to: number
  readonly aheadMs: number
}

interface Call {
  readonly id: string
  readonly account_id: string
  readonly key_id: string
  readonly model: string
  readonly amount: bigint
  readonly estimate: Readonly<Record<string, number>>
  readonly labels: { readonly tags?: string[]; readonly end_user?: string } | null
  readonly state: string
  readonly created_at: Date
  readonly charged: bigint | null
  readonly lost_charge: bigint | null
  readonly lines: readonly { readonly unit: string; readonly quantity: number }[] | null
  readonly counters: bigint[] | null
}

interface Counter {
  readonly id: bigint
  readonly budget_id: string
  readonly window_start: Date
  readonly subject: string
  readonly held: bigint
  readonly spent: bigint
}

/** A hold waits at most this long between its time and the clock of its budgets. */
const WAIT_MS_MAX = 4_000

export interface Verdict {
  readonly calls: number
  readonly counters: number
  readonly crossings: number
  readonly breaks: readonly string[]
}

export async function judge(
  sql: Sql,
  budgets: readonly BookBudget[],
  keys: ReadonlyMap<string, BookKey>,
  clocks: readonly ClockSpan[],
): Promise<Verdict> {
  const calls = await sql<Call[]>`
    select h.id, h.account_id, h.key_id, h.model, h.amount, h.estimate, h.labels, h.state,
      h.created_at, h.counters, c.charged, c.lost_charge, c.lines
    from hold h left join call c on c.hold_id = h.id`
  const counters = await sql<Counter[]>`
    select id, budget_id, window_start, subject, held, spent::bigint as spent from budget_use`
  const byId = new Map(counters.map((counter) => [counter.id, counter]))
  const sums = new Map<bigint, { spent: bigint; beyond: bigint }>()
  const breaks: string[] = []
  let crossings = 0
  for (const call of calls) {
    const pinned = pinsOf(call)
    const expected = budgets.filter((budget) => applies(budget, call, keys.get(call.key_id)))
    const named = pinned.map(({ id }) => byId.get(id)?.budget_id).sort()
    if (
      named.join() !==
      expected
        .map(({ id }) => id)
        .sort()
        .join()
    ) {
      breaks.push(`${call.id}: counted under ${named}, not ${expected.map(({ id }) => id)}`)
    }
    for (const { id, asked } of pinned) {
      const counter = byId.get(id)
      const budget = expected.find((one) => one.id === counter?.budget_id)
      if (!counter || !budget) continue
      const window = judgeWindow(budget, counter, call, clocks)
      if (window === 'wrong') breaks.push(`${call.id}: not of the window ${counter.window_start}`)
      if (window === 'edge') crossings += 1
      if (asked !== askedOf(budget, call)) breaks.push(`${call.id}: asked ${asked} of ${budget.id}`)
      const used = usedOf(budget, call, asked)
      const sum = sums.get(id) ?? { spent: 0n, beyond: 0n }
      sum.spent += used
      if (used > asked) sum.beyond += used - asked
      // A call that was closed as lost, which returned its part, and was settled later.
      else if (call.lost_charge !== null) sum.beyond += used
      sums.set(id, sum)
    }
  }
  for (const counter of counters) {
    const { spent = 0n, beyond = 0n } = sums.get(counter.id) ?? {}
    const budget = budgets.find(({ id }) => id === counter.budget_id)
    const since = counter.window_start.toISOString()
    const name = `${counter.budget_id} from ${since} ${counter.subject}`
    if (counter.held !== 0n) breaks.push(`${name}: ${counter.held} left held`)
    if (counter.spent !== spent) breaks.push(`${name}: spent ${counter.spent}, not ${spent}`)
    if (budget?.action === 'refuse' && spent > budget.largest + beyond) {
      breaks.push(`${name}: ${spent} of ${budget.largest}, ${beyond} stated beyond holds`)
    }
  }
  return { calls: calls.length, counters: counters.length, crossings, breaks }
}

function pinsOf({ counters }: Call) {
  const pins: { id: bigint; asked: bigint }[] = []
  for (let place = 0; place < (counters?.length ?? 0); place += 2) {
    pins.push({ id: counters?.[place] ?? 0n, asked: counters?.[place + 1] ?? 0n })
  }
  return pins
}

function applies(budget: BookBudget, call: Call, key: BookKey | undefined): boolean {
  if (budget.account_id !== call.account_id) return false
  if (budget.models && !budget.models.includes(call.model)) return false
  switch (budget.scope) {
    case 'key':
      return budget.subject === call.key_id
    case 'member':
      return budget.subject === key?.member
    case 'tag': {
      const stated =
        call.labels?.tags?.includes(budget.subject) && key?.required.includes(budget.subject)
      return key?.tags.includes(budget.subject) || stated === true
    }
    default:
      return true
  }
}

/** The number of end users is within the limit, so each has a counter of its own. */
function judgeWindow(
  budget: BookBudget,
  counter: Counter,
  call: Call,
  clocks: readonly ClockSpan[],
) {
  const user = call.labels?.end_user
  const subject = budget.scope !== 'end_user' || user === undefined ? '' : `u:${user}`
  if (counter.subject !== subject && counter.subject !== '*') return 'wrong'
  const created = call.created_at.getTime()
  const span = clocks.find(({ from, to }) => created >= from && created <= to)
  if (!span) return 'wrong'
  if (budget.period === 'total') return 'right'
  const counted = windowName(budget, counter.window_start.getTime())
  const at = created + span.aheadMs
  if (counted === windowName(budget, at)) return 'right'
  return counted === windowName(budget, at + WAIT_MS_MAX) ? 'edge' : 'wrong'
}

function tokensOf(unit: string, quantities: readonly (readonly [string, number])[]): bigint {
  return quantities.reduce((sum, [name, count]) => (name === unit ? sum + BigInt(count) : sum), 0n)
}

function askedOf({ unit }: BookBudget, { amount, estimate }: Call): bigint {
  if (unit === 'money') return amount
  return unit === 'call' ? 1n : tokensOf(unit, Object.entries(estimate))
}

function usedOf({ unit }: BookBudget, { state, charged, lines }: Call, asked: bigint): bigint {
  if (state !== 'settled') return 0n
  if (unit === 'money') return charged ?? 0n
  if (unit === 'call') return 1n
  if (!lines || lines.length === 0) return asked
  return tokensOf(
    unit,
    lines.map((line) => [line.unit, line.quantity] as const),
  )
}
