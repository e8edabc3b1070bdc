/** A hold and a settlement take the same time in a large ledger as in an empty one. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { closeHolds, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { holdRow, settleRow } from './support.ts'

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
  const caller = { accountId: account.id, keyId: key.id }
  const holds = Array.from({ length: 20 }, (_, index) =>
    holdRow(caller, {
      spend_limit: '1000000',
      idempotency_key: `key-${index}`,
      route: 'test',
      fingerprint: '00',
    }),
  )
  // More than the hold, so that the statements of an overrun run too.
  const settlements = holds.map((hold) =>
    settleRow(hold, 150n, { answer: { key: hold.idempotency_key ?? '', state: 'streamed' } }),
  )
  const alone = holdRow(caller)
  const closing = { ...settleRow(alone, 50n), held: alone.amount }
  const subjects = [{ name: `key:${key.id}`, requests: 1_000, tokens: 10_000, calls: 1_000 }]
  const limited = Array.from({ length: 20 }, () => {
    return holdRow(caller, { limits: { subjects, tokens: 100, onLeft: () => {} } })
  })
  const returned = { tokens: 50, names: [`key:${key.id}`] }
  const returning = limited.map((hold) => settleRow(hold, 50n, { returned_tokens: returned }))
  const scanned = await sql.begin(async (transaction) => {
    await takeHolds(transaction, holds)
    await closeHolds(transaction, settlements)
    await takeHolds(transaction, [alone])
    await closeHolds(transaction, [closing])
    await takeHolds(transaction, limited)
    await closeHolds(transaction, returning)
    return await transaction<{ relname: string; seq_scan: bigint }[]>`
      select relname, seq_scan from pg_stat_xact_user_tables
      -- The latter has one row, however large the ledger is.
      where seq_scan > 0 and relname <> 'usage_watermark'`
  })
  assert.deepEqual([...scanned], [])
})
