/** Calls are found by label in an index that is built beside them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connect } from '../../server/base/database/connection/client.ts'
import { listMissingIndexes } from '../../server/money/usage/label-index-store.ts'
import { buildLabelIndexes } from '../../server/money/usage/label-indexes.ts'
import { selectUsage } from '../../server/money/usage/store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

async function build(): Promise<readonly string[]> {
  const alone = connect({ url: database.url }, { connections: 1, statementTimeoutMs: 0 })
  try {
    await buildLabelIndexes(alone)
    return await listMissingIndexes(alone)
  } finally {
    await alone.end()
  }
}

test('a rare tag and a rare end user are found by the indexes', async () => {
  const { sql } = database
  assert.equal((await listMissingIndexes(sql)).length, 2)
  assert.deepEqual(await build(), [])
  assert.deepEqual(await build(), [], 'a second gateway has nothing to build')
  await sql`
    insert into call (request_id, hold_id, account_id, key_id, endpoint, model, status, basis,
      currency, held, charged, returned, labels, created_at)
    select 'req_' || n, 'hold_' || n, 'acct_' || n % 2, 'key', 'chat', 'm', 'succeeded', 'usage',
      'CNY', 1, 1, 0, case when n < 2 then '{"tags": ["rare", "often"], "end_user": "rare"}'::jsonb
        else '{"tags": ["often"], "end_user": "often"}' end, now() - n * interval '1 second'
    from generate_series(0, 20000) n`
  await sql`analyze call`
  for (const [filter, index] of [
    [{ tag: 'rare' }, 'call_by_tag'],
    [{ endUser: 'rare' }, 'call_by_end_user'],
  ] as const) {
    const rows = await selectUsage(sql, { accountId: 'acct_1', limit: 50, ...filter })
    assert.deepEqual(
      rows.map(({ request_id: id, tags, end_user: endUser }) => [id, tags, endUser]),
      [['req_1', ['rare', 'often'], 'rare']],
    )
    await until(`a scan of ${index}`, async () => {
      const [use] = await sql<{ scans: bigint }[]>`
        select idx_scan as scans from pg_stat_user_indexes where indexrelname = ${index}`
      return (use?.scans ?? 0n) > 0n
    })
  }
  const often = await selectUsage(sql, { accountId: 'acct_1', limit: 2, tag: 'often' })
  assert.deepEqual(
    often.map(({ request_id: id }) => id),
    ['req_1', 'req_3'],
  )
})
