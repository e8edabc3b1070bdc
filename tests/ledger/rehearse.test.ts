/** What a start runs once of the ledger's statements. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rehearseMoves } from '../../server/money/ledger/posting/rehearse.ts'
import { createTestDatabase } from '../support/postgres.ts'

test('a rehearsal runs the statements of a call and writes nothing', async () => {
  const { sql, drop } = await createTestDatabase()
  try {
    await rehearseMoves(sql)
    const [row] = await sql`
      select (select count(*) from hold) as holds, (select count(*) from entry) as entries,
        (select count(*) from call) as calls, (select count(*) from balance) as balances`
    assert.deepEqual({ ...row }, { holds: 0n, entries: 0n, calls: 0n, balances: 0n })
  } finally {
    await drop()
  }
})
