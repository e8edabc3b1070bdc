/** Labels of a call: the hold pins them, and its record has them however it ends. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, newRequestId } from '../../../server/base/lib/ids.ts'
import { holdForTask, settleTask } from '../../../server/money/ledger/holds/task-holds.ts'
import { renewLease, sweepHolds } from '../../../server/money/ledger/leases/owner-store.ts'
import {
  closeHolds,
  correctLost,
  takeHolds,
} from '../../../server/money/ledger/posting/move-store.ts'
import type { HoldRow, SettleRow } from '../../../server/money/ledger/store.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'
import { createCaller, holdRow, settleRow, type TestCaller } from '../support.ts'

let database: TestDatabase
let caller: TestCaller
before(async () => {
  database = await createTestDatabase()
  caller = await createCaller(database.sql, 1_000_000n)
})
after(() => database.drop())

const LABELS = { tags: ['a', 'ü "b"'], end_user: 'u1', base_version: 12 }
const estimate = { input_token: 9 }
const labelled = (more: Partial<HoldRow> = {}) =>
  holdRow(caller, { estimate, labels: LABELS, ...more })

async function readLabels(holdId: string) {
  const [hold] = await database.sql`select estimate, labels from hold where id = ${holdId}`
  const [call] = await database.sql`select labels from call where hold_id = ${holdId}`
  return { ...hold, recorded: call?.labels }
}

const subjects = () => [{ name: `account:${caller.accountId}`, requests: 1_000 }]
const TAKEN: Readonly<Record<string, () => Partial<HoldRow>>> = {
  plainly: () => ({}),
  'with limits': () => ({ limits: { subjects: subjects(), tokens: 9 } }),
  'with a cost beyond the hold': () => ({ excess: '5' }),
  'under a limit of its key': () => ({ spend_limit: '1000000' }),
  'with an Idempotency-Key': () => ({
    idempotency_key: newRequestId(),
    route: 'r',
    fingerprint: '00',
  }),
}
const answer = { key: 'none', state: 'streamed' } as const
const CLOSED: Readonly<Record<string, (row: HoldRow) => SettleRow>> = {
  'with its charge': (row) => ({ ...settleRow(row, 60n), held: row.amount }),
  'without a charge': (row) => ({ ...settleRow(row, null), held: row.amount }),
  'with an overrun': (row) => ({ ...settleRow(row, 160n), held: row.amount }),
  'with an answer': (row) => settleRow(row, 60n, { answer }),
}

test('labels survive each way to take a hold and each way to close it', async () => {
  for (const taking of Object.values(TAKEN)) {
    for (const closing of Object.values(CLOSED)) {
      for (const companions of [[], [holdRow(caller)], [labelled(), holdRow(caller)]]) {
        const row = labelled(taking())
        const rows = [row, ...companions]
        await takeHolds(database.sql, rows)
        const before = await readLabels(row.id)
        assert.deepEqual(before, { estimate, labels: LABELS, recorded: undefined })
        await closeHolds(database.sql, rows.map(closing))
        assert.deepEqual(await readLabels(row.id), { estimate, labels: LABELS, recorded: LABELS })
      }
    }
  }
  const [unlabelled] = await database.sql<{ count: bigint }[]>`
    select count(*) from hold h join call c on c.hold_id = h.id
    where h.labels is null and c.labels is null and h.estimate = '{}'`
  assert.equal(unlabelled?.count, 40n)
})

test('the record of a dead process has the labels, and so has its correction', async () => {
  const { sql } = database
  const row = labelled({ owner_id: newId('own') })
  await takeHolds(sql, [row])
  await sql`update hold set created_at = created_at - interval '60 s' where id = ${row.id}`
  const times = { leaseSeconds: 20, patienceSeconds: 10, quietSeconds: 600 }
  const sweeper = newId('own')
  await renewLease(sql, { id: sweeper, address: '' }, times)
  await sql`update owner set steady_since = now() - interval '1 minute' where id = ${sweeper}`
  assert.equal((await sweepHolds(sql, sweeper, times, 500)).closed, 1)
  assert.deepEqual((await readLabels(row.id)).recorded, LABELS)
  assert.equal(await correctLost(sql, settleRow(row, 90n)), 'corrected')
  assert.deepEqual((await readLabels(row.id)).recorded, LABELS)
})

test('a task keeps its labels', async () => {
  const { sql } = database
  const request = {
    requestId: newRequestId(),
    accountId: caller.accountId,
    keyId: caller.keyId,
    endpoint: 'videos',
    model: 'm',
    priceVersion: null,
    amountNanos: 100n,
    estimate,
    labels: LABELS,
    spendLimitNanos: null,
    idempotency: null,
  }
  const held = await sql.begin((transaction) => holdForTask(transaction, newId('task'), request))
  assert.ok('holdId' in held)
  const settlement = { chargeNanos: 70n, basis: 'params', lines: [], attempts: [] }
  await sql.begin((transaction) =>
    settleTask(
      transaction,
      { hold_id: held.holdId, account_id: caller.accountId },
      { ...settlement, status: 'succeeded' },
    ),
  )
  const expected = { estimate, labels: LABELS, recorded: LABELS }
  assert.deepEqual(await readLabels(held.holdId), expected)
})
