/** Counters of others cost a call nothing, however statements are planned. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { closeHolds, takeHolds } from '../../../server/money/ledger/posting/move-store.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'
import { createCaller, holdRow, settleRow } from '../support.ts'
import { giveBudget } from './support.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const OTHERS = 5_000
const CALLS = 8
/** Rows that a call may read of its own budget and counter, with what the plans read twice. */
const ROWS_PER_CALL_MAX = 40

test('taking and closing holds reads their own budgets and counters alone', async () => {
  const { sql } = database
  const caller = await createCaller(sql, 1_000_000n)
  const other = await createCaller(sql, 1n)
  const { id } = await giveBudget(sql, caller.accountId, 1_000_000n, { scope: 'end_user' })
  await sql`
    insert into budget_use (budget_id, window_start, subject)
    select case when n % 2 = 0 then ${id} else 'bud_other' end, now(), 'u:other' || n
    from generate_series(1, ${OTHERS}::int) n`
  await sql`
    insert into budget (id, account_id, scope, counted_under, unit, amount, period, set_by)
    select 'bud_' || n, ${other.accountId}, 'tag', 'tag:' || n, 'money', 1, 'day', 'owner'
    from generate_series(1, ${OTHERS}::int) n`
  const holds = Array.from({ length: CALLS }, (_, index) =>
    holdRow(caller, { labels: { end_user: `user-${index}` } }),
  )
  const read = await sql.begin(async (transaction) => {
    await takeHolds(transaction, holds)
    const ids = holds.map((hold) => hold.id)
    await transaction`set local enable_nestloop = off`
    await transaction`set local enable_seqscan = off`
    const [counted] = await transaction<{ is_done: boolean }[]>`
      select is_done from budget_take_all(${caller.accountId}, ${ids},
        ${holds.map((hold) => hold.key_id)}, ${holds.map((hold) => hold.model)},
        ${holds.map(() => '0')}::bigint[],
        ${JSON.stringify(holds.map(({ labels }) => ({ labels })))}::text::jsonb)`
    assert.equal(counted?.is_done, true)
    await closeHolds(
      transaction,
      holds.map((hold) => settleRow(hold, 50n)),
    )
    return await transaction<{ relname: string; rows: number }[]>`
      select relname, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
      from pg_stat_xact_user_tables where relname in ('budget', 'budget_use')`
  })
  for (const { relname, rows } of read) {
    assert.ok(rows < CALLS * ROWS_PER_CALL_MAX, `${rows} rows of ${relname}`)
  }
})
