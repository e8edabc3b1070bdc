/** The upstream cost of a call whose process died: that of the last checkpoint. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../server/base/lib/ids.ts'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { startSweeper } from '../../server/money/ledger/leases/sweeper.ts'
import { takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import { writeCheckpoints } from '../../server/money/ledger/store.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { LEASES, storedCheckpoint } from './support.ts'

test('cost and attempts of the last checkpoint are recorded; else they are unknown', async (t) => {
  const database = await createTestDatabase()
  const { sql } = database
  const account = await createAccount(sql, {
    name: 'test',
    openingBalanceNanos: 1_000n,
    actor: 'test',
  })
  const key = await createKey(sql, { accountId: account.id })
  const hold = (name: string) => ({
    id: newId('hold'),
    request_id: `req_${name}`,
    account_id: account.id,
    key_id: key.id,
    owner_id: 'own_dead',
    task_id: null,
    endpoint: 'test',
    model: 'm',
    price_version: null,
    amount: '100',
    estimate: {},
    spend_limit: null,
    idempotency_key: null,
    route: null,
    fingerprint: null,
  })
  const holds = ['known', 'none'].map(hold)
  await takeHolds(sql, holds)
  const attempts = [{ channel: 'main', outcome: 'answered' }]
  const known = { attempts, upstream_cost: '30', upstream_cost_version: '7' }
  await writeCheckpoints(sql, [
    {
      hold_id: holds[0]?.id ?? '',
      account_id: holds[0]?.account_id ?? '',
      checkpoint: storedCheckpoint(40n, known),
    },
  ])
  await sql`update hold set created_at = now() - interval '5 seconds'`
  const quiet = { info: () => undefined, warn: () => undefined }
  const sweeper = await startSweeper({
    sql,
    ownerId: 'own_alive',
    address: '',
    exclusive: true,
    ...LEASES,
    log: quiet,
  })
  t.after(async () => {
    await sweeper.stop()
    await database.drop()
  })
  assert.equal(await sweeper.sweep(), 2)
  const rows = await sql`
    select request_id, status, charged, upstream_cost, upstream_cost_version, attempts
    from call order by request_id`
  assert.deepEqual(
    rows.map((row) => [
      row.request_id,
      row.status,
      row.charged,
      row.upstream_cost,
      row.upstream_cost_version,
    ]),
    [
      ['req_known', 'lost', 40n, 30n, 7n],
      ['req_none', 'lost', 0n, null, null],
    ],
  )
  assert.deepEqual(rows[0]?.attempts, attempts)
})
