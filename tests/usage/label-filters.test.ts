/** Calls are found by tag in the quarters of an hour that have it, and by end user in an index. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql } from 'postgres'
import { connect } from '../../server/base/database/connection/client.ts'
import { buildIndex, lacksIndex } from '../../server/money/usage/label-index-store.ts'
import { countEndedCalls } from '../../server/money/usage/rollup-store.ts'
import { selectUsage } from '../../server/money/usage/store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

/** Returns whether the index is there afterwards. */
async function build(): Promise<boolean> {
  const alone = connect(
    { url: database.url },
    { connections: 1, patient: true, statementTimeoutMs: 0 },
  )
  try {
    await buildIndex(alone)
    return !(await lacksIndex(alone))
  } finally {
    await alone.end()
  }
}

test('a rare tag and a rare end user are found without reading all calls', async () => {
  const { sql } = database
  assert.equal(await lacksIndex(sql), true)
  assert.equal(await build(), true)
  assert.equal(await build(), true, 'a second gateway has nothing to build')
  await sql`
    insert into call (request_id, hold_id, account_id, key_id, endpoint, model, status, basis,
      currency, held, charged, returned, labels, created_at, finished_at)
    select 'req_' || n, 'hold_' || n, 'acct_' || n % 2, 'key', 'chat', 'm', 'succeeded', 'usage',
      'CNY', 1, 1, 0, case when n < 2 then '{"tags": ["rare", "often"], "end_user": "rare"}'::jsonb
        else '{"tags": ["often"], "end_user": "often"}' end, at, at - interval '1 minute'
    from generate_series(0, 20000) n, lateral (select now() - n * interval '1 second' as at) t`
  await sql`vacuum analyze call`
  while (await countEndedCalls(sql, 3600));
  const expected = [['req_1', ['rare', 'often'], 'rare']]
  const find = async (on: Sql, filter: { tag?: string; endUser?: string }) =>
    (await selectUsage(on, { accountId: 'acct_1', limit: 50, ...filter })).map(
      ({ request_id: id, tags, end_user: endUser }) => [id, tags, endUser],
    )
  await sql.begin(async (transaction) => {
    const countRead = async () => {
      const [row] = await transaction<[{ rows: number }]>`
        select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
        where relname = 'call'`
      return row.rows
    }
    const before = await countRead()
    assert.deepEqual(await find(transaction as unknown as Sql, { tag: 'rare' }), expected)
    const read = (await countRead()) - before
    // Both accounts have 900 calls in a quarter of an hour.
    assert.ok(read < 3000, `${read} rows were read for one of 20,000`)
  })
  assert.deepEqual(await find(sql, { endUser: 'rare' }), expected)
  await until('a scan of the index', async () => {
    const [use] = await sql<{ scans: bigint }[]>`
      select idx_scan as scans from pg_stat_user_indexes where indexrelname = 'call_by_end_user'`
    return (use?.scans ?? 0n) > 0n
  })
  const often = await selectUsage(sql, { accountId: 'acct_1', limit: 2, tag: 'often' })
  assert.deepEqual(
    often.map(({ request_id: id }) => id),
    ['req_1', 'req_3'],
  )
})
