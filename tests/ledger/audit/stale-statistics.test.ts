/** An audit of calls that are newer than the statistics of their tables. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql } from 'postgres'
import {
  LEDGER_INVARIANTS,
  withReadOnlySnapshot,
} from '../../../server/money/ledger/audit/audit-store.ts'
import { createTestDatabase } from '../../support/postgres.ts'

const OLD_CALLS = 2_000
const NEW_CALLS = 400

/** Inserts released calls without entries, whose ids begin with a text. */
async function insertCalls(sql: Sql, start: string, calls: number): Promise<void> {
  await sql`
    insert into hold (id, request_id, account_id, key_id, endpoint, model, amount, state, closed_at)
    select 'hold_' || ${start}::text || n, 'req_' || ${start}::text || n, 'acct', 'key', 'test', 'm', 0,
      'released', now()
    from generate_series(10000, 10000 + ${calls}::int - 1) n`
  await sql`
    insert into call (request_id, hold_id, account_id, key_id, endpoint, model, status, basis,
      currency, held, charged, returned, created_at)
    select request_id, id, account_id, key_id, endpoint, model, 'failed', 'none', 'CNY', 0, 0, 0, now()
    from hold where id like 'hold_' || ${start}::text || '%'`
}

test('each call is compared with its own rows alone', async (t) => {
  const { sql, drop } = await createTestDatabase()
  t.after(drop)
  await insertCalls(sql, '0a', OLD_CALLS)
  for (const table of ['hold', 'call']) await sql`analyze ${sql(table)}`
  await insertCalls(sql, '0b', NEW_CALLS)
  const scope = { ranges: [{ from: 'hold_0b' }], weeks: [], block: 0n }
  const read = await withReadOnlySnapshot(sql, async (view) => {
    for (const { find } of LEDGER_INVARIANTS) await find(view, scope)
    const [row] = await view`
      select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read
      from pg_stat_xact_user_tables where relname in ('hold', 'call')`
    return row?.read
  })
  assert.ok(read < 20 * (OLD_CALLS + NEW_CALLS), `${read} rows were read for ${NEW_CALLS} calls`)
})
