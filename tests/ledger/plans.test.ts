/** A hold and a settlement cost the same in a large ledger as in an empty one. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createAccount } from '../../server/accounts/manage-accounts.ts'
import { createKey } from '../../server/accounts/manage-keys.ts'
import { newId } from '../../server/lib/ids.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

test('no statement of the ledger reads a whole table, however it is planned', async () => {
  const { sql } = database
  const account = await createAccount(sql, {
    name: 'test',
    openingBalanceNanos: 1_000_000n,
    actor: 'test',
  })
  const key = await createKey(sql, { accountId: account.id, spendLimitNanos: 1_000_000n })
  const holds = Array.from({ length: 20 }, (_, index) => ({
    ...{ id: newId('hold'), request_id: newId('req'), account_id: account.id, key_id: key.id },
    ...{ owner_id: null, task_id: null, endpoint: 'test', model: 'm', price_version: null },
    ...{ amount: '100', estimate: {}, spend_limit: '1000000' },
    ...{ idempotency_key: `key-${index}`, route: 'test', fingerprint: '00' },
  }))
  const settlements = holds.map((hold) => ({
    // More than was held, so that the overrun's statements run too.
    ...{ hold_id: hold.id, charge: '150', status: 'succeeded', basis: 'usage' },
    ...{ review: false, lines: [], attempts: [], error: null, task_id: null },
    answer: { key: hold.idempotency_key, state: 'streamed' },
  }))
  const scanned = await sql.begin(async (transaction) => {
    await transaction`select ledger_hold(${JSON.stringify(holds)}::text::jsonb)`
    await transaction`select ledger_settle(${JSON.stringify(settlements)}::text::jsonb)`
    return await transaction<{ relname: string; seq_scan: bigint }[]>`
      select relname, seq_scan from pg_stat_xact_user_tables where seq_scan > 0`
  })
  assert.deepEqual([...scanned], [])
})
