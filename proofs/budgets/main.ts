/**
 * Proves that budgets hold over three gateways that are killed with -9, across midnights in four
 * zones and days of 23 and 25 hours, while they are changed, and under eight at once; first of the
 * ledger in three processes, then of three whole gateways over HTTP:
 * `npm run prove:budgets -- [--rounds 20] [--calls 120] [--http 8] [--seed N]`.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { connect } from '../../server/base/database/connection/client.ts'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import type { BudgetRow, BudgetScope } from '../../server/money/ledger/budgets/budget.ts'
import { addBudget, changeBudget } from '../../server/money/ledger/budgets/budgets.ts'
import { POSTGRES_OPTION, readOptions } from '../../testbed/options.ts'
import { createRandom } from '../../testbed/random.ts'
import { readConditions, report } from '../../testbed/results.ts'
import { createTestDatabase } from '../../tests/support/postgres.ts'
import { until } from '../../tests/support/until.ts'
import { type BookBudget, type BookKey, type ClockSpan, judge, type Verdict } from './book.ts'
import type { Order, ProofCaller, RoundEnd } from './orders.ts'
import { type HttpVerdict, proveOverHttp } from './over-http.ts'
import { EDGES, ZONES } from './zones.ts'

const values = readOptions(import.meta.filename, {
  postgres: POSTGRES_OPTION,
  rounds: { type: 'string', default: '20' },
  calls: { type: 'string', default: '120' },
  http: { type: 'string', default: '8' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
})
const rounds = Number(values.rounds)
const calls = Number(values.calls)
const seed = Number(values.seed)
const GATEWAYS = 3
const ACCOUNTS = 3
const RACERS = 40
const BEFORE_EDGE_MS = 900
const BALANCE = 10n ** 15n
const HTTP_CALLS = 300

const random = createRandom(seed)
const conditions = readConditions(
  `npm run prove:budgets -- --rounds ${rounds} --calls ${calls} --http ${values.http} ` +
    `--seed ${seed}`,
  values.postgres,
)
const database = await createTestDatabase()
const sql = connect({ url: database.url })
const keys = new Map<string, BookKey>()
const callers: ProofCaller[] = []
const budgets = new Map<string, BookBudget>()
/** Those that are changed under load. */
const changing: string[] = []
const clocks: ClockSpan[] = []
const totals = { held: 0, refused: 0, kills: 0, changes: 0, other: [] as string[] }
const races: string[] = []
const gateways = await Promise.all(Array.from({ length: GATEWAYS }, startGateway))
try {
  await sql`create table proof_clock (ahead interval not null)`
  await sql`insert into proof_clock values ('0')`
  await sql.unsafe(`create or replace function budget_clock() returns timestamptz
    language sql volatile as 'select clock_timestamp() + ahead from proof_clock'`)
  for (let index = 0; index < ACCOUNTS; index += 1) await createCallers(index)
  for (let index = 1; index <= rounds; index += 1) await runRound(index)
  await settled()
  const verdict = await judge(sql, [...budgets.values()], keys, clocks)
  const isAudited = (await audit(sql)).ok
  const { postgres } = values
  const overHttp = { random, rounds: Number(values.http), calls: HTTP_CALLS, postgres }
  finish(verdict, isAudited, await proveOverHttp(overHttp))
} finally {
  for (const gateway of gateways) gateway.kill('SIGKILL')
  await sql.end()
  await database.drop()
}

async function startGateway(): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'gateway.ts'), [database.url])
  await once(child, 'message')
  return child
}

async function createRacer(): Promise<ProofCaller> {
  const opening = { openingBalanceNanos: BALANCE, actor: 'proof' }
  const { id: accountId } = await createAccount(sql, { name: 'race', ...opening })
  const { id: keyId } = await createKey(sql, { accountId })
  keys.set(keyId, { member: null, tags: [], required: [] })
  return { accountId, keyId }
}

/** An account with three keys and random budgets of every scope; the last key is under eight. */
async function createCallers(index: number): Promise<void> {
  const opening = { openingBalanceNanos: BALANCE, actor: 'proof' }
  const { id: accountId } = await createAccount(sql, { name: `account ${index}`, ...opening })
  const member = `user_${index}`
  await sql`insert into person (id, email, name)
    values (${member}, ${`${member}@example.com`}, 'x')`
  await sql`insert into membership (person_id, account_id, role)
    values (${member}, ${accountId}, 'member')`
  for (const place of [0, 1, 2]) {
    const { id } = await createKey(
      sql,
      place === 0 ? { accountId } : { accountId, createdBy: member },
    )
    const tags = place === 2 ? ['always'] : []
    const required = place === 1 ? ['red', 'blue'] : []
    await sql`update api_key set tags = ${tags}, required_tags = ${required} where id = ${id}`
    keys.set(id, { member: place === 0 ? null : member, tags, required })
    callers.push({ accountId, keyId: id })
  }
  const last = callers.at(-1)?.keyId ?? ''
  const scopes: readonly BudgetScope[] = [
    { scope: 'account', subject: '' },
    { scope: 'account', subject: '' },
    { scope: 'end_user', subject: '' },
    { scope: 'member', subject: member },
    { scope: 'key', subject: last },
    { scope: 'key', subject: last },
    { scope: 'tag', subject: 'always' },
    { scope: 'tag', subject: 'always' },
    { scope: 'tag', subject: 'red' },
    { scope: 'tag', subject: 'blue' },
  ]
  for (const scope of scopes) {
    const row = await addRandom(accountId, scope)
    note(row)
    changing.push(row.id)
  }
}

function addRandom(accountId: string, scope: BudgetScope): Promise<BudgetRow> {
  const unit = random.pick(['money', 'money', 'call', 'input_token', 'output_token'] as const)
  const perCall = { money: 50, call: 1, input_token: 25, output_token: 40 }[unit]
  return addBudget(sql, {
    accountId,
    ...scope,
    setBy: 'operator',
    unit,
    amount: BigInt(perCall * random.integer(20, 200)),
    period: random.pick(['day', 'week', 'month', 'total'] as const),
    time_zone: random.pick(ZONES),
    week_start: random.integer(1, 7),
    models: random.next() < 0.3 ? ['a', 'b'] : null,
    action: random.next() < 0.15 ? 'warn' : 'refuse',
    end_users_max: 3,
  })
}

function note(row: BudgetRow): void {
  const largest = budgets.get(row.id)?.largest ?? 0n
  const models = row.models && [...row.models]
  budgets.set(row.id, { ...row, models, largest: row.amount > largest ? row.amount : largest })
}

/** One edge of the clock: calls over all gateways, changes of budgets, and often a kill. */
async function runRound(index: number): Promise<void> {
  const edge = Date.parse(EDGES[index % EDGES.length] ?? '')
  const from = Date.now()
  const aheadMs = edge - BEFORE_EDGE_MS - from
  await sql`update proof_clock set ahead = ${aheadMs} * interval '1 millisecond'`
  const prize = random.integer(1, GATEWAYS * RACERS - 1)
  const racer = await createRacer()
  const one = { scope: 'account', subject: '', setBy: 'operator' } as const
  const race = { unit: 'call', amount: BigInt(prize), period: 'total' } as const
  note(await addBudget(sql, { accountId: racer.accountId, ...one, ...race }))
  const orders = gateways.map((gateway) => order(gateway, racer))
  const victim = random.next() < 0.6 ? random.integer(0, GATEWAYS - 1) : -1
  const killed = victim < 0 ? undefined : kill(victim, random.integer(200, 2_500))
  const isOver = { value: false }
  const changes = changeBudgets(isOver)
  const ends = await Promise.all(orders)
  isOver.value = true
  await changes
  await killed
  await settled()
  const raced = ends.reduce((sum, end) => sum + (end?.raced ?? 0), 0)
  if (victim < 0 && raced !== prize) races.push(`round ${index}: ${raced} passed, not ${prize}`)
  clocks.push({ from, to: Date.now(), aheadMs })
  for (const end of ends) {
    totals.held += end?.held ?? 0
    totals.refused += end?.refused ?? 0
    totals.other.push(...(end?.other ?? []))
  }
  console.log(`${index}/${rounds}  ${EDGES[index % EDGES.length]}  raced ${raced} of ${prize}`)
}

/** Resolves when the gateway has done its part or has ended. */
async function order(gateway: ChildProcess, racer: ProofCaller): Promise<RoundEnd | undefined> {
  const message: Order = {
    seed: random.integer(0, 2 ** 31),
    calls,
    callers: callers as [ProofCaller, ...ProofCaller[]],
    race: { caller: racer, calls: RACERS },
  }
  gateway.send(message)
  const ended = new AbortController()
  const gone = once(gateway, 'exit', ended).then(() => undefined)
  const done = once(gateway, 'message', ended).then(([end]) => end as RoundEnd)
  try {
    return await Promise.race([done, gone])
  } finally {
    ended.abort()
  }
}

async function kill(victim: number, afterMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  gateways[victim]?.kill('SIGKILL')
  totals.kills += 1
  gateways[victim] = await startGateway()
}

async function changeBudgets(isOver: { readonly value: boolean }): Promise<void> {
  while (!isOver.value) {
    const row = budgets.get(changing[random.integer(0, 2 * changing.length)] ?? '')
    if (row) {
      const amount = (row.largest * BigInt(random.integer(50, 130))) / 100n
      // Noted first: a hold may pass by it at once.
      budgets.set(row.id, { ...row, largest: amount > row.largest ? amount : row.largest })
      await changeBudget(sql, row.id, { change: { amount }, setBy: 'operator' })
      totals.changes += 1
    }
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
}

/** Waits until every hold is closed, those of killed gateways by the sweepers. */
async function settled(): Promise<void> {
  await until(
    'the end of all holds',
    async () => {
      const [row] = await sql<
        { open: bigint }[]
      >`select count(*) as open from hold where state = 'open'`
      return row?.open === 0n
    },
    60_000,
  )
}

function finish(verdict: Verdict, isAudited: boolean, http: HttpVerdict): void {
  const { kills, changes, held, refused, other } = totals
  const wrong = other.map((outcome) => `a call was ${outcome}`)
  const breaks = [...verdict.breaks, ...races, ...wrong, ...http.breaks]
  const isTried = refused > 0 && verdict.calls > 0 && http.refused > 0 && http.windows > 0
  const ok = breaks.length === 0 && isAudited && isTried
  report(
    'prove-budgets',
    conditions,
    { ok, seed, rounds, kills, changes, held, refused, isAudited, ...verdict, http, breaks },
    [
      `${verdict.calls} calls of ${GATEWAYS} gateways under ${budgets.size} budgets, ` +
        `${verdict.counters} counters of windows; ${refused} refused`,
      `${kills} gateways killed, ${changes} changes under load, ${rounds} edges of the clock, ` +
        `${verdict.crossings} holds across one`,
      `${rounds - kills} races without a kill let exactly as many calls pass as fit`,
      `over HTTP: ${http.calls} calls charged under eight budgets each, ${http.refused} refused, ` +
        `${http.kills} gateways killed, ${http.changes} changes under load; ` +
        `${http.windows} budgets counted them in two windows over ${values.http} edges`,
      `audit ${isAudited ? 'clean' : 'NOT CLEAN'}, ${breaks.length} exceptions`,
      ...breaks.slice(0, 20),
      ok ? 'PASSED' : 'FAILED',
    ],
  )
  if (!ok) process.exitCode = 1
}
