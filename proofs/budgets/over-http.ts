/**
 * The same over HTTP: three whole gateways serve calls of a key under eight budgets that race for
 * them over an edge of the clock, while one is killed with -9 and a budget is changed. Answers of
 * callers, the vendor's records and the counters agree.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { Agent } from 'undici'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import type { BudgetRow } from '../../server/money/ledger/budgets/budget.ts'
import { addBudget, changeBudget } from '../../server/money/ledger/budgets/budgets.ts'
import { type Laboratory, openLaboratory, type PlaceOptions } from '../../testbed/laboratory.ts'
import { priceOf } from '../../testbed/prices.ts'
import type { Random } from '../../testbed/random.ts'
import { createTestAccount, type GatewayProcess } from '../../tests/support/gateway.ts'
import { until } from '../../tests/support/until.ts'
import { EDGES_AHEAD, windowName, ZONES } from './zones.ts'

const GATEWAYS = 3
const PRICE_NANOS = priceOf('vendor-web-search', { call: 1 })
const ENV = { ALLOW_PRIVATE_TARGETS: '1' }
/** A killed gateway's holds are closed when its lease has expired. */
const CLOSED_MS = 120_000
/** The clock of budgets is this long before its edge when the calls of a round begin. */
const BEFORE_EDGE_MS = 200
/** They begin within this time, most of them after the edge: fewer come before it than fit. */
const SPREAD_MS = 1_000

interface Answer {
  readonly status: number
  readonly code?: string | undefined
  readonly budgetId?: string | undefined
  readonly resetsAt?: string | null | undefined
  readonly retryAfter?: string | undefined
}

export interface HttpVerdict {
  readonly calls: number
  readonly refused: number
  readonly kills: number
  readonly changes: number
  /** Budgets that calls of one round counted towards in two windows. */
  readonly windows: number
  readonly breaks: readonly string[]
}

interface HttpOptions {
  readonly random: Random
  readonly rounds: number
  readonly calls: number
  readonly postgres: NonNullable<PlaceOptions['postgres']>
}

export async function proveOverHttp(options: HttpOptions): Promise<HttpVerdict> {
  const { postgres, rounds } = options
  const place = { shared: true, simulatorArguments: ['--fast'], postgres }
  const laboratory = await openLaboratory(place)
  const gateways: GatewayProcess[] = []
  const totals = { calls: 0, refused: 0, kills: 0, changes: 0, windows: 0, breaks: [] as string[] }
  try {
    for (let at = 0; at < GATEWAYS; at += 1) gateways.push(await laboratory.startGateway(ENV))
    await laboratory.withDatabase((sql) => replaceClock(sql))
    for (let round = 1; round <= rounds; round += 1) {
      // Every third round is quiet: then exactly as many calls pass as fit.
      const edge = EDGES_AHEAD[(round - 1) % EDGES_AHEAD.length] ?? EDGES_AHEAD[0]
      const end = await runRound(laboratory, gateways, {
        ...options,
        edge,
        isQuiet: round % 3 === 0,
      })
      totals.calls += end.calls
      totals.refused += end.refused
      totals.kills += end.kills
      totals.changes += end.changes
      totals.breaks.push(...end.breaks.map((text) => `over HTTP, round ${round}: ${text}`))
      totals.windows += end.windows
      console.log(
        `over HTTP ${round}/${rounds}  ${edge}  ${end.calls} passed, ${end.refused} refused`,
      )
    }
    const { ok } = await laboratory.withDatabase((sql) => audit(sql))
    if (!ok) totals.breaks.push('over HTTP: the audit is not clean')
    return totals
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()))
    await laboratory.close()
  }
}

async function runRound(
  laboratory: Laboratory,
  gateways: GatewayProcess[],
  {
    random,
    calls,
    isQuiet,
    edge,
  }: HttpOptions & { readonly isQuiet: boolean; readonly edge: string },
): Promise<HttpVerdict> {
  const round = await openRound(laboratory, random, calls)
  const aheadMs = Date.parse(edge) - BEFORE_EDGE_MS - Date.now()
  await laboratory.withDatabase(
    (sql) => sql`update proof_clock set ahead = ${aheadMs} * interval '1 millisecond'`,
  )
  const agent = new Agent({ connections: calls, pipelining: 1, headersTimeout: 90_000 })
  const urls = gateways.map(({ url }) => url)
  const answers = Array.from({ length: calls }, (_, index) =>
    sendAfter(random.integer(0, SPREAD_MS), agent, urls[index % urls.length] ?? '', round.key),
  )
  const disturbed = isQuiet ? { kills: 0, changes: 0 } : await disturb(laboratory, gateways, round)
  const ends = await Promise.all(answers)
  await agent.destroy()
  const rows = await readRows(laboratory, round.accountId)
  const passed = ends.filter(({ status }) => status === 200).length
  const refused = ends.filter(({ status }) => status === 402)
  const breaks = [
    ...judgeRefusals(refused, round),
    ...judgeWindows(rows.counters, round),
    ...judgeCounters(rows, { ...round, passed, isQuiet, calls }),
  ]
  const twice = round.budgets.filter(
    ({ id }) => rows.counters.filter((one) => one.id === id && one.spent > 0n).length > 1,
  )
  const windows = twice.length
  return { calls: rows.charged, refused: refused.length, ...disturbed, windows, breaks }
}

/** Gateways do not read `proof_clock` themselves: the statement that takes a hold does. */
async function replaceClock(sql: Sql): Promise<void> {
  await sql`create table proof_clock (ahead interval not null)`
  await sql`insert into proof_clock values ('0')`
  await sql.unsafe(`create or replace function budget_clock() returns timestamptz
    language sql volatile as 'select clock_timestamp() + ahead from proof_clock'`)
}

interface Round {
  readonly accountId: string
  readonly key: string
  readonly budgets: readonly BudgetRow[]
  /**
   * The calls that fit the budget that is not changed, and at most those that fit the one that is.
   */
  readonly fitting: number
  readonly largest: number
  /** The calls that fit into one day of the key. */
  readonly daily: number
}

/** An account whose key is under eight budgets, each of which counts each of its calls. */
function openRound(laboratory: Laboratory, random: Random, calls: number): Promise<Round> {
  return laboratory.withDatabase(async (sql) => {
    const { id: accountId } = await createTestAccount(sql, '1000')
    const { id: keyId, key } = await createKey(sql, { accountId })
    const fitting = random.integer(Math.floor(calls / 4), Math.floor(calls / 2))
    const larger = random.integer(fitting, calls)
    const own = { accountId, setBy: 'operator', time_zone: random.pick(ZONES) } as const
    const rows = [
      await addBudget(sql, {
        ...own,
        scope: 'key',
        subject: keyId,
        unit: 'call',
        amount: BigInt(fitting),
        period: 'total',
      }),
      await addBudget(sql, {
        ...own,
        scope: 'account',
        subject: '',
        unit: 'money',
        amount: BigInt(larger) * PRICE_NANOS,
        period: 'month',
      }),
      await addBudget(sql, {
        ...own,
        scope: 'end_user',
        subject: '',
        unit: 'call',
        amount: BigInt(calls),
        period: 'week',
      }),
    ]
    const daily = { ...own, unit: 'call', period: 'day' } as const
    const amount = BigInt(random.integer(Math.ceil(fitting / 2), fitting))
    // The key's alone may refuse: those of the account have room.
    rows.push(await addBudget(sql, { ...daily, scope: 'key', subject: keyId, amount }))
    for (const time_zone of ZONES) {
      const roomy = { ...daily, time_zone, amount: BigInt(calls) }
      rows.push(await addBudget(sql, { ...roomy, scope: 'account', subject: '' }))
    }
    return { accountId, key, budgets: rows, fitting, largest: larger, daily: Number(amount) }
  })
}

/** Kills a gateway while it serves, and moves the first budget down and up again. */
async function disturb(laboratory: Laboratory, gateways: GatewayProcess[], round: Round) {
  const first = round.budgets[0]?.id ?? ''
  const amounts = [1, Math.floor(round.fitting / 2), round.fitting].map(BigInt)
  await laboratory.withDatabase(async (sql) => {
    for (const amount of amounts) {
      await changeBudget(sql, first, { change: { amount }, setBy: 'operator' })
    }
  })
  await gateways[0]?.kill9()
  gateways[0] = await laboratory.startGateway(ENV)
  return { kills: 1, changes: amounts.length }
}

async function sendAfter(ms: number, ...call: Parameters<typeof send>): Promise<Answer> {
  await sleep(ms)
  return await send(...call)
}

async function send(agent: Agent, origin: string, key: string): Promise<Answer> {
  try {
    const answer = await agent.request({
      origin,
      path: '/v1/search',
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"Type":"web","Query":"rivers","Count":1}',
    })
    const text = await answer.body.text()
    if (answer.statusCode !== 402) return { status: answer.statusCode }
    // This endpoint's errors are flat.
    const error = JSON.parse(text)
    const retryAfter = answer.headers['retry-after']
    return {
      status: 402,
      code: error.code,
      budgetId: error.budget_id,
      resetsAt: error.resets_at,
      retryAfter: retryAfter === undefined ? undefined : String(retryAfter),
    }
  } catch {
    // Its gateway was killed.
    return { status: 0 }
  }
}

function judgeRefusals(refused: readonly Answer[], { budgets }: Round): string[] {
  return refused.flatMap(({ code, budgetId = '', resetsAt, retryAfter }) => {
    const budget = budgets.find(({ id }) => id === budgetId)
    if (code !== 'budget_exceeded' || !budget) return `402 ${code} ${budgetId}`
    if (retryAfter !== undefined) return `a refusal has Retry-After: ${retryAfter}`
    if (budget.period === 'total') return resetsAt === null ? [] : `a total resets at ${resetsAt}`
    const at = Date.parse(resetsAt ?? '')
    const isEdge = windowName(budget, at) !== windowName(budget, at - 1)
    return isEdge ? [] : `a ${budget.period} of ${budget.time_zone} resets at ${resetsAt}`
  })
}

/** No window of a budget exceeds its amount or has two counters. */
function judgeWindows(counters: Rows['counters'], { budgets }: Round): string[] {
  const names = new Set<string>()
  return counters.flatMap(({ id, since, spent }) => {
    const budget = budgets.find((one) => one.id === id)
    if (!budget) return `a counter of ${id}`
    const name = `${id} ${windowName(budget, since.getTime())}`
    if (names.has(name)) return `two counters of ${name}`
    names.add(name)
    return spent > budget.amount ? `${spent} of ${budget.amount} in ${name}` : []
  })
}

interface Rows {
  readonly charged: number
  readonly counters: readonly {
    readonly id: string
    readonly since: Date
    readonly spent: bigint
    readonly held: bigint
  }[]
}

/** Reads the records and counters of an account, once all of its holds are closed. */
function readRows(laboratory: Laboratory, accountId: string): Promise<Rows> {
  return laboratory.withDatabase(async (sql) => {
    await until(
      'the end of all holds',
      async () => {
        const [row] = await sql<{ open: bigint }[]>`
          select count(*) as open from hold where account_id = ${accountId} and state = 'open'`
        return row?.open === 0n
      },
      CLOSED_MS,
    )
    const [row] = await sql<[{ charged: number }]>`
      select count(*)::int as charged from call where account_id = ${accountId} and charged > 0`
    const counters = await sql<Rows['counters'][number][]>`
      select budget_id as id, window_start as since, spent::bigint as spent, held
      from budget_use join budget b on b.id = budget_id
      where b.account_id = ${accountId} and budget_use.subject <> '*'`
    return { charged: row.charged, counters }
  })
}

interface Expected extends Round {
  readonly passed: number
  readonly isQuiet: boolean
  readonly calls: number
}

function judgeCounters({ charged, counters }: Rows, expected: Expected): string[] {
  const { budgets, fitting, largest, daily, passed, isQuiet } = expected
  const breaks: string[] = []
  const most = Math.min(fitting, largest)
  if (charged > most) breaks.push(`${charged} calls were charged, at most ${most} fit`)
  if (passed > charged) breaks.push(`${passed} calls passed, ${charged} were charged`)
  // At least one of two days is used up.
  if (isQuiet && charged < Math.min(most, daily)) breaks.push(`${charged} passed, ${daily} fit`)
  for (const { id, unit } of budgets) {
    const own = counters.filter((counter) => counter.id === id)
    const held = own.reduce((sum, counter) => sum + counter.held, 0n)
    const spent = own.reduce((sum, counter) => sum + counter.spent, 0n)
    const price = unit === 'money' ? PRICE_NANOS : 1n
    if (held !== 0n) breaks.push(`${held} is still held of ${id}`)
    if (spent !== BigInt(charged) * price) breaks.push(`${spent} was spent of ${id}`)
  }
  return breaks
}
