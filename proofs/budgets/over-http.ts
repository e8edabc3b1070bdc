/**
 * The same over HTTP: three whole gateways serve calls that race for budgets, while one is killed
 * with -9 and a budget is changed. What a caller got, the vendor's records and the counters agree.
 */
import { Agent } from 'undici'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { addBudget, changeBudget } from '../../server/money/ledger/budgets/budgets.ts'
import { type Laboratory, openLaboratory, type PlaceOptions } from '../../testbed/laboratory.ts'
import { priceOf } from '../../testbed/prices.ts'
import type { Random } from '../../testbed/random.ts'
import { createTestAccount, type GatewayProcess } from '../../tests/support/gateway.ts'
import { until } from '../../tests/support/until.ts'
import { ZONES } from './zones.ts'

const GATEWAYS = 3
const PRICE_NANOS = priceOf('vendor-web-search', { call: 1 })
const ENV = { ALLOW_PRIVATE_TARGETS: '1' }
/** A killed gateway's holds are closed when its lease has expired. */
const CLOSED_MS = 120_000

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
  const totals = { calls: 0, refused: 0, kills: 0, changes: 0, breaks: [] as string[] }
  try {
    for (let at = 0; at < GATEWAYS; at += 1) gateways.push(await laboratory.startGateway(ENV))
    for (let round = 1; round <= rounds; round += 1) {
      // Every third round is quiet: then exactly as many calls pass as fit.
      const end = await runRound(laboratory, gateways, { ...options, isQuiet: round % 3 === 0 })
      totals.calls += end.calls
      totals.refused += end.refused
      totals.kills += end.kills
      totals.changes += end.changes
      totals.breaks.push(...end.breaks.map((text) => `over HTTP, round ${round}: ${text}`))
      console.log(`over HTTP ${round}/${rounds}  ${end.calls} passed, ${end.refused} refused`)
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
  { random, calls, isQuiet }: HttpOptions & { readonly isQuiet: boolean },
): Promise<HttpVerdict> {
  const round = await openRound(laboratory, random, calls)
  const agent = new Agent({ connections: calls, pipelining: 1, headersTimeout: 90_000 })
  const urls = gateways.map(({ url }) => url)
  const answers = Array.from({ length: calls }, (_, index) =>
    send(agent, urls[index % urls.length] ?? '', round.key),
  )
  const disturbed = isQuiet ? { kills: 0, changes: 0 } : await disturb(laboratory, gateways, round)
  const ends = await Promise.all(answers)
  await agent.destroy()
  const rows = await readRows(laboratory, round.accountId)
  const passed = ends.filter(({ status }) => status === 200).length
  const refused = ends.filter(({ status }) => status === 402)
  const breaks = [
    ...judgeRefusals(refused, round.ids),
    ...judgeCounters(rows, { ...round, passed, isQuiet, calls }),
  ]
  return { calls: rows.charged, refused: refused.length, ...disturbed, breaks }
}

interface Round {
  readonly accountId: string
  readonly key: string
  readonly ids: readonly string[]
  /** The calls that fit the budget that is not changed, and the one that is at most. */
  readonly fitting: number
  readonly largest: number
}

/** An account with three budgets that count each of its calls. */
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
    return { accountId, key, ids: rows.map(({ id }) => id), fitting, largest: larger }
  })
}

/** Kills a gateway while it serves, and moves the first budget down and up again. */
async function disturb(laboratory: Laboratory, gateways: GatewayProcess[], round: Round) {
  const [first = ''] = round.ids
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

function judgeRefusals(refused: readonly Answer[], ids: readonly string[]): string[] {
  return refused.flatMap(({ code, budgetId = '', resetsAt, retryAfter }) => {
    if (code !== 'budget_exceeded' || !ids.includes(budgetId)) return `402 ${code} ${budgetId}`
    if (retryAfter !== undefined) return `a refusal has Retry-After: ${retryAfter}`
    const isTotal = budgetId === ids[0]
    if (isTotal === (typeof resetsAt === 'string')) return `${budgetId} resets at ${resetsAt}`
    return []
  })
}

interface Rows {
  readonly charged: number
  readonly counters: readonly {
    readonly id: string
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
      select budget_id as id, sum(spent)::bigint as spent, sum(held)::bigint as held
      from budget_use join budget b on b.id = budget_id where b.account_id = ${accountId}
      group by budget_id`
    return { charged: row.charged, counters }
  })
}

interface Expected extends Round {
  readonly passed: number
  readonly isQuiet: boolean
  readonly calls: number
}

function judgeCounters({ charged, counters }: Rows, expected: Expected): string[] {
  const { ids, fitting, largest, passed, isQuiet } = expected
  const breaks: string[] = []
  const most = Math.min(fitting, largest)
  if (charged > most) breaks.push(`${charged} calls were charged, at most ${most} fit`)
  if (passed > charged) breaks.push(`${passed} calls passed, ${charged} were charged`)
  if (isQuiet && charged !== most) breaks.push(`${charged} calls passed, ${most} fit`)
  for (const { id, spent, held } of counters) {
    const unit = id === ids[1] ? PRICE_NANOS : 1n
    if (held !== 0n) breaks.push(`${held} is still held of ${id}`)
    if (spent !== BigInt(charged) * unit) breaks.push(`${spent} was spent of ${id}`)
  }
  return breaks
}
