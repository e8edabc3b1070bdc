/**
 * The ledger under a random workload, compared with an independent model: after every command the
 * balances must equal the model's, and after every run the audit must be clean.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from 'postgres'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { closeHolds, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import { type HoldRow, postCredit, type SettleRow } from '../../server/money/ledger/store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { LedgerModel } from './model.ts'

const RUNS = Number(process.env.LEDGER_RUNS ?? 300)
const COMMANDS_MAX = 100
const ACCOUNTS = ['a', 'b', 'c'] as const

interface Real {
  readonly sql: Sql
  readonly prefix: string
  next: number
  commands: number
}

type Command = fc.AsyncCommand<LedgerModel, Real>

let database: TestDatabase
let commandsRun = 0

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

/** One statement for all accounts: to read each by itself takes a quarter of the test's time. */
async function expectBalances(model: LedgerModel, real: Real): Promise<void> {
  real.commands += 1
  const ids = [...model.accounts.keys()]
  const rows = await real.sql<{ id: string }[]>`
    select account_id as id, available, held, debt from balance where account_id = any(${ids})`
  const found = new Map(rows.map(({ id, ...balance }) => [id, balance]))
  assert.deepEqual(found, model.accounts)
}

function holdRow(id: string, account: string, amount: bigint): HoldRow {
  return {
    id,
    request_id: `req_${id}`,
    account_id: account,
    key_id: 'key',
    owner_id: null,
    task_id: null,
    endpoint: 'test',
    model: 'test',
    price_version: null,
    amount: amount.toString(),
    estimate: {},
    spend_limit: null,
    idempotency_key: null,
    route: null,
    fingerprint: null,
  }
}

function settleRow(id: string, charge: bigint | null): SettleRow {
  return {
    hold_id: id,
    charge: charge?.toString() ?? null,
    status: charge === null ? 'failed' : 'succeeded',
    basis: 'usage',
    review: false,
    lines: [],
    attempts: [],
    error: null,
    upstream_cost: null,
    upstream_cost_version: null,
    task_id: null,
    answer: null,
  }
}

const accountOf = (real: Real, index: number) => `${real.prefix}${ACCOUNTS[index]}`

class Credit implements Command {
  readonly account: number
  readonly amount: bigint
  readonly twice: boolean
  constructor(account: number, amount: bigint, twice: boolean) {
    this.account = account
    this.amount = amount
    this.twice = twice
  }
  check = () => true
  async run(model: LedgerModel, real: Real): Promise<void> {
    const id = `${real.prefix}credit${real.next++}`
    const accountId = accountOf(real, this.account)
    for (let times = this.twice ? 2 : 1; times > 0; times -= 1) {
      const posted = await postCredit(real.sql, {
        id,
        accountId,
        kind: 'top_up',
        amountNanos: this.amount,
        reason: 'test',
        actor: 'test',
        eventId: null,
      })
      assert.equal(posted, model.credit(id, accountId, this.amount))
    }
    await expectBalances(model, real)
  }
  toString = () => `credit(${this.account}, ${this.amount}, twice ${this.twice})`
}

class Debit implements Command {
  readonly account: number
  readonly amount: bigint
  constructor(account: number, amount: bigint) {
    this.account = account
    this.amount = amount
  }
  check = () => true
  async run(model: LedgerModel, real: Real): Promise<void> {
    const id = `${real.prefix}debit${real.next++}`
    const accountId = accountOf(real, this.account)
    const posting = postCredit(real.sql, {
      id,
      accountId,
      kind: 'adjustment',
      amountNanos: -this.amount,
      reason: 'test',
      actor: 'test',
      eventId: null,
    })
    if (model.debit(id, accountId, this.amount)) assert.equal(await posting, true)
    else await assert.rejects(posting, { code: '23514' })
    await expectBalances(model, real)
  }
  toString = () => `debit(${this.account}, ${this.amount})`
}

/** Takes several holds in one statement: per account, each sees the earlier ones. */
class Holds implements Command {
  readonly amounts: readonly (readonly [account: number, amount: bigint])[]
  constructor(amounts: readonly (readonly [number, bigint])[]) {
    this.amounts = amounts
  }
  check = () => true
  async run(model: LedgerModel, real: Real): Promise<void> {
    const rows = this.amounts.map(([account, amount]) =>
      holdRow(`${real.prefix}hold${real.next++}`, accountOf(real, account), amount),
    )
    const verdicts = await takeHolds(real.sql, rows)
    for (const row of rows) {
      const expected = model.hold(row.id, row.account_id, BigInt(row.amount))
      assert.equal(verdicts.get(row.id), expected, row.id)
    }
    await expectBalances(model, real)
  }
  toString = () => `holds(${this.amounts.map(([account, amount]) => `${account}:${amount}`)})`
}

/** Closes open holds in one statement: each is charged a percentage of itself, or released. */
class Close implements Command {
  readonly picks: readonly (readonly [pick: number, percent: number | null])[]
  constructor(picks: readonly (readonly [number, number | null])[]) {
    this.picks = picks
  }
  check = (model: Readonly<LedgerModel>) => model.openHolds().length > 0
  async run(model: LedgerModel, real: Real): Promise<void> {
    const open = model.openHolds()
    const rows = new Map<string, SettleRow>()
    for (const [pick, percent] of this.picks) {
      const id = open[pick % open.length]
      if (id === undefined || rows.has(id)) continue
      const { account, amount } = model.holds.get(id) ?? { account: '', amount: 0n }
      const charge = percent === null ? null : (amount * BigInt(percent)) / 100n
      // Alone, it takes another way in the database; a wrong amount is found there.
      const held = `${pick % 5 === 0 ? amount + 1n : amount}`
      rows.set(id, { ...settleRow(id, charge), ...(pick % 2 ? { account_id: account, held } : {}) })
    }
    const verdicts = await closeHolds(real.sql, [...rows.values()])
    // The returns of a batch come first, then its overruns by account and hold.
    const ordered = [...rows.values()].sort(
      (x, y) =>
        Number(isOverrun(x, model)) - Number(isOverrun(y, model)) || compare(x.hold_id, y.hold_id),
    )
    for (const row of ordered) {
      assert.equal(model.close(row.hold_id, row.charge === null ? null : BigInt(row.charge)), true)
      assert.equal(verdicts.get(row.hold_id), 'closed')
    }
    const again = await closeHolds(real.sql, [...rows.values()])
    for (const id of rows.keys()) assert.equal(again.get(id), 'already', 'a hold ends once')
    await expectBalances(model, real)
  }
  toString = () => `close(${JSON.stringify(this.picks)})`
}

function isOverrun(row: SettleRow, model: LedgerModel): boolean {
  return BigInt(row.charge ?? 0) > (model.holds.get(row.hold_id)?.amount ?? 0n)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : 1
}

const account = fc.nat({ max: ACCOUNTS.length - 1 })
const amount = fc.bigInt({ min: 1n, max: 10_000n })
const commands = [
  fc.tuple(account, amount, fc.boolean()).map(([a, n, twice]) => new Credit(a, n, twice)),
  fc.tuple(account, amount).map(([a, n]) => new Debit(a, n)),
  fc
    .array(fc.tuple(account, fc.bigInt({ min: 0n, max: 5_000n })), { minLength: 1, maxLength: 6 })
    .map((amounts) => new Holds(amounts)),
  fc
    .array(fc.tuple(fc.nat({ max: 50 }), fc.option(fc.nat({ max: 250 }), { nil: null })), {
      minLength: 1,
      maxLength: 5,
    })
    .map((picks) => new Close(picks)),
]

let run = 0

async function setUp(): Promise<{ model: LedgerModel; real: Real }> {
  const prefix = `r${run++}_`
  const model = new LedgerModel()
  const { sql } = database
  const ids = ACCOUNTS.map((name) => prefix + name)
  await sql`insert into account (id, name) select unnest(${ids}::text[]), 'test'`
  await sql`insert into balance (account_id, currency) select unnest(${ids}::text[]), 'CNY'`
  for (const id of ids) model.accounts.set(id, { available: 0n, held: 0n, debt: 0n })
  return { model, real: { sql, prefix, next: 0, commands: 0 } }
}

test('balances follow the model under random commands, and the audit is clean', async (t) => {
  const seed = Number(process.env.LEDGER_SEED ?? Date.now() % 2 ** 31)
  t.diagnostic(`seed ${seed} (repeat with LEDGER_SEED=${seed})`)
  await fc.assert(
    fc.asyncProperty(
      fc.commands(commands, { maxCommands: COMMANDS_MAX, size: 'max' }),
      async (sequence) => {
        const { model, real } = await setUp()
        await fc.asyncModelRun(() => ({ model, real }), sequence)
        commandsRun += real.commands
      },
    ),
    { numRuns: RUNS, seed, endOnFailure: true },
  )
  const result = await audit(database.sql)
  assert.deepEqual(
    result.checks.filter((check) => !check.ok),
    [],
  )
  t.diagnostic(`${commandsRun} commands`)
  assert.ok(commandsRun >= (RUNS * COMMANDS_MAX) / 3, `only ${commandsRun} commands were run`)
})
