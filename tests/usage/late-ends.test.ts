/**
 * Figures have the calls of a transaction that the server showed too late: nothing says that it has
 * begun, while the calls of that time are counted.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql } from 'postgres'
import { closeHolds, correctLost, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import type { SettleRow } from '../../server/money/ledger/store.ts'
import { countEndedCalls } from '../../server/money/usage/rollup-store.ts'
import { createCaller, holdRow, settleRow, type TestCaller } from '../ledger/support.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

/** Takes holds of these callers. Returns what settles them. */
async function hold(callers: readonly TestCaller[]): Promise<SettleRow[]> {
  const holds = callers.map((caller) => holdRow(caller))
  await takeHolds(database.sql, holds)
  return holds.map((one) => settleRow(one, 40n, { held: one.amount }))
}

async function countAll(): Promise<void> {
  while (await countEndedCalls(database.sql, 3600));
}

/** Counts the calls of before, and makes the time of now final, unless a transaction is seen. */
async function countUntilNow(): Promise<void> {
  const { sql } = database
  await closeHolds(sql, await hold([await createCaller(sql)]))
  await sql`update usage_watermark set final_until = null`
  await countAll()
}

for (const [name, accounts, calls] of [
  ['one call', 1, 1],
  ['calls of one account', 1, 2],
  ['calls of several accounts', 2, 2],
] as const) {
  test(`figures have ${name} whose transaction was not seen`, async () => {
    const { sql } = database
    const callers = await Promise.all(Array.from({ length: accounts }, () => createCaller(sql)))
    const settled = await hold(calls > accounts ? [...callers, ...callers] : callers)
    await sql.begin(async (transaction) => {
      await transaction`set local track_activities = off`
      const [seen] = await transaction`select count(xact_start)::int as begun
        from pg_stat_activity where pid = pg_backend_pid()`
      assert.equal(seen?.begun, 0)
      await countUntilNow()
      // As outside of a transaction, where the cheaper functions are used.
      const unsafe: Sql['unsafe'] = (...query) => transaction.unsafe(...query)
      await closeHolds({ unsafe } as Sql, settled)
    })
    await countAll()
    const [row] = await sql`
      with span as (select * from usage_watermark)
      select coalesce(sum(calls), 0)::int + (
        select count(*)::int from call, span where finished_at >= counted_until) as shown,
        (select count(*)::int from call) as all
      from usage_part where part = 'all'`
    assert.equal(row?.shown, row?.all)
  })
}

test('figures have a correction at a server whose clock is behind', async () => {
  const { sql } = database
  const [settled] = await hold([await createCaller(sql)])
  assert.ok(settled)
  await closeHolds(sql, [{ ...settled, status: 'lost' }])
  await sql`update usage_watermark set final_until = now() + interval '1 hour'`
  assert.equal(await correctLost(sql, settled), 'corrected')
  const [row] = await sql`
    select finished_at >= final_until as is_later from call, usage_watermark
    where hold_id = ${settled.hold_id}`
  assert.equal(row?.is_later, true)
})
