/** A hold or a settlement alone, or among those of its account, ends as it would in any batch. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { closeHolds, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import { type HoldRow, readBalance, type SettleRow } from '../../server/money/ledger/store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { createCaller, holdRow, settleRow, type TestCaller } from './support.ts'

let database: TestDatabase
/** In batches of two accounts. */
let beside: TestCaller
before(async () => {
  database = await createTestDatabase()
  beside = await createCaller(database.sql, 1_000_000n)
})
after(() => database.drop())

type Way = 'alone' | 'with its account' | 'with another account'

/** A hold of nothing, which moves no balance, beside `row`. */
const companionOf = (way: Way, row: Pick<HoldRow, 'account_id'>) =>
  holdRow(way === 'with another account' ? beside : { ...beside, accountId: row.account_id }, {
    amount: '0',
    model: 'companion',
  })

async function take(way: Way, row: HoldRow, deadline?: Date) {
  const rows = way === 'alone' ? [row] : [row, companionOf(way, row)]
  return (await takeHolds(database.sql, rows, deadline)).get(row.id)
}

async function close(way: Way, row: SettleRow & { readonly account_id: string }) {
  const companion = companionOf(way, row)
  if (way !== 'alone') await takeHolds(database.sql, [companion])
  const rows = way === 'alone' ? [row] : [row, { ...settleRow(companion, 0n), held: '0' }]
  return (await closeHolds(database.sql, rows)).get(row.hold_id)
}

async function rowsOf(caller: TestCaller) {
  const { sql } = database
  const { accountId } = caller
  const { currency, ...balance } = (await readBalance(sql, accountId)) ?? {}
  return {
    balance,
    currency,
    entries: await sql`select step, source, destination, amount, currency from entry
      where account_id = ${accountId} order by id`,
    holds: await sql`select key_id is not null as keyed, owner_id, task_id, endpoint, model,
      price_version, amount, estimate, state, checkpoint, closed_at is not null as closed,
      spend_limited from hold where account_id = ${accountId} and model <> 'companion'
      order by created_at`,
    calls:
      await sql`select task_id, endpoint, model, status, basis, review, currency, held, charged,
      returned, debt, price_version, lines, attempts, error, upstream_cost, upstream_cost_version
      from call where account_id = ${accountId} and model <> 'companion' order by created_at`,
  }
}

const details = {
  lines: [{ unit: 'input_token', quantity: 7 }],
  attempts: [{ channel: 'ä "b"' }],
  review: true,
  error: 'said the vendor',
  upstream_cost: '3',
  upstream_cost_version: '2',
}

/** Everything that can happen to a hold of an account with 1,000 nano-units. */
async function live(way: Way): Promise<unknown> {
  const caller = await createCaller(database.sql)
  const verdicts: unknown[] = []
  const charges = [0n, 60n, 100n, 130n, null]
  for (const charge of charges) {
    const row = holdRow(caller, { price_version: '4', estimate: { input_token: 9 } })
    verdicts.push(await take(way, row), await take(way, row))
    const settlement = { ...settleRow(row, charge, details), held: row.amount }
    verdicts.push(await close(way, settlement), await close(way, settlement))
  }
  const wrong = holdRow(caller)
  await take(way, wrong)
  verdicts.push(await close(way, { ...settleRow(wrong, 10n), held: '90' }))
  const free = holdRow(caller, { amount: '0' })
  verdicts.push(await take(way, free))
  verdicts.push(await close(way, { ...settleRow(free, 0n), held: '0' }))
  const unknown = { ...settleRow(holdRow(caller), 5n), held: '100' }
  verdicts.push(await close(way, unknown))
  verdicts.push(await take(way, holdRow(caller), new Date(0)))
  verdicts.push(await take(way, holdRow(caller, { amount: '5000' })))
  verdicts.push(await take(way, { ...holdRow(caller), account_id: 'acct_none' }))
  const large = holdRow(caller, { amount: '500' })
  await take(way, large)
  verdicts.push(await close(way, { ...settleRow(large, 5_000n), held: large.amount }))
  verdicts.push(await take(way, holdRow(caller)))
  return { verdicts, ...(await rowsOf(caller)) }
}

test('every end of a hold is the same alone and in a batch', async () => {
  const alone = await live('alone')
  assert.deepEqual(await live('with its account'), alone)
  assert.deepEqual(await live('with another account'), alone)
  assert.deepEqual(
    (await audit(database.sql)).checks.filter(({ ok }) => !ok),
    [],
  )
})

for (const way of ['alone', 'with its account', 'with another account'] as const) {
  test(`what comes back from a hold pays the debt first: ${way}`, async () => {
    const caller = await createCaller(database.sql)
    const small = holdRow(caller, { amount: '400' })
    const [large, third] = [holdRow(caller, { amount: '300' }), holdRow(caller, { amount: '200' })]
    for (const row of [small, large, third]) assert.equal(await take(way, row), 'held')
    const end = async (row: HoldRow, charge: bigint) => {
      await close(way, { ...settleRow(row, charge), held: row.amount })
      const { available, held, debt } = (await readBalance(database.sql, caller.accountId)) ?? {}
      return { available, held, debt }
    }
    assert.deepEqual(await end(small, 800n), { available: 0n, held: 500n, debt: 300n })
    assert.deepEqual(await end(large, 50n), { available: 0n, held: 200n, debt: 50n })
    assert.equal(await take(way, holdRow(caller, { amount: '1' })), 'in_debt')
    assert.deepEqual(await end(third, 20n), { available: 130n, held: 0n, debt: 0n })
    // As after a commit whose answer was lost.
    assert.deepEqual(await end(third, 20n), { available: 130n, held: 0n, debt: 0n })
    const repaid = await database.sql`select posting, amount from entry
      where account_id = ${caller.accountId} and step = 'repay' order by id`
    assert.deepEqual(
      repaid.map(({ posting, amount }) => [posting, amount]),
      [
        [large.id, 250n],
        [third.id, 50n],
      ],
    )
    assert.equal(await take(way, holdRow(caller, { amount: '130' })), 'held')
  })
}

test('a hold that is closed twice in one batch is charged once', async () => {
  const caller = await createCaller(database.sql)
  const [row, other] = [holdRow(caller), holdRow(caller)]
  await takeHolds(database.sql, [row, other])
  const closing = { ...settleRow(row, 60n), held: row.amount }
  await assert.rejects(closeHolds(database.sql, [closing, closing]), { code: '23505' })
  const both = [closing, { ...settleRow(other, 70n), held: other.amount }]
  const verdicts = await closeHolds(database.sql, both)
  assert.deepEqual([verdicts.get(row.id), verdicts.get(other.id)], ['closed', 'closed'])
  const balance = await readBalance(database.sql, caller.accountId)
  assert.deepEqual([balance?.available, balance?.held], [870n, 0n])
})

test('a hold under a limit of its key is closed with its counter', async () => {
  const caller = await createCaller(database.sql)
  const row = holdRow(caller, { spend_limit: '1000' })
  assert.equal(await take('alone', row), 'held')
  assert.equal(await close('alone', { ...settleRow(row, 60n), held: row.amount }), 'closed')
  const [spend] = await database.sql`
    select held, spent from key_spend where key_id = ${caller.keyId}`
  assert.deepEqual({ ...spend }, { held: 0n, spent: 60n })
})

test('entries, holds and records keep their conditions', async () => {
  const { sql } = database
  const { accountId } = await createCaller(sql)
  const entry = (step: string, source: string, amount: number) =>
    sql`insert into entry (posting, step, account_id, currency, source, destination, amount)
      values ('hold_x', ${step}, ${accountId}, 'CNY', ${source}, 'held', ${amount})`
  for (const wrong of [
    entry('gift', 'available', 1),
    entry('hold', 'mine', 1),
    entry('hold', 'held', 1),
    entry('hold', 'available', 0),
    sql`update hold set state = 'gone'`,
    sql`update hold set amount = -1`,
    sql`update call set status = 'fine'`,
    sql`update call set charged = -1`,
    sql`update call set upstream_cost = -1`,
  ]) {
    await assert.rejects(wrong, { code: '23514' })
  }
})
