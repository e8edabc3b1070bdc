/** Alerts of balances and keys are recorded once, in the transaction that causes them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../../server/base/lib/ids.ts'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { closeHolds, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import { postCredit } from '../../server/money/ledger/store.ts'
import { recordExpiringKeys } from '../../server/work/alerts/alert-store.ts'
import { createCaller, holdRow, settleRow } from '../ledger/support.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

/** Returns the kinds of an account's alerts in their order. */
async function kindsOf(accountId: string): Promise<string[]> {
  const rows = await database.sql<{ kind: string }[]>`
    select kind from alert_event where account_id = ${accountId} order by id`
  return rows.map(({ kind }) => kind)
}

async function setMark(accountId: string, mark: number | null): Promise<void> {
  await database.sql`update account set low_balance_at = ${mark} where id = ${accountId}`
}

async function charge(caller: Awaited<ReturnType<typeof createCaller>>, nanos: bigint) {
  const hold = holdRow(caller, { amount: '1000' })
  assert.equal((await takeHolds(database.sql, [hold])).get(hold.id) ?? 'held', 'held')
  const row = { ...settleRow(hold, nanos), held: hold.amount }
  assert.equal((await closeHolds(database.sql, [row])).get(hold.id), 'closed')
}

const credit = (accountId: string, amountNanos: bigint) =>
  postCredit(database.sql, {
    id: newId('cred'),
    accountId,
    kind: amountNanos > 0n ? 'top_up' : 'adjustment',
    amountNanos,
    reason: 'test',
    actor: 'test',
    eventId: null,
  })

test('low: once for each crossing, and not by what is only on hold', async () => {
  const caller = await createCaller(database.sql, 10_000n)
  await setMark(caller.accountId, 9_500)
  const holds = [holdRow(caller, { amount: '4000' }), holdRow(caller, { amount: '4000' })]
  await takeHolds(database.sql, holds)
  assert.deepEqual(await kindsOf(caller.accountId), [], 'holds come back')
  await closeHolds(
    database.sql,
    holds.map((hold) => settleRow(hold, null)),
  )
  await charge(caller, 400n)
  assert.deepEqual(await kindsOf(caller.accountId), [])
  await charge(caller, 200n)
  await charge(caller, 200n)
  assert.deepEqual(await kindsOf(caller.accountId), ['balance_low'])
  await credit(caller.accountId, 100n)
  await charge(caller, 100n)
  assert.deepEqual(await kindsOf(caller.accountId), ['balance_low'], 'still below the mark')
  await credit(caller.accountId, 5_000n)
  await credit(caller.accountId, -6_000n)
  assert.deepEqual(await kindsOf(caller.accountId), ['balance_low', 'balance_low'])
})

test('low: a mark that is set or raised above the balance is crossed at once', async () => {
  const caller = await createCaller(database.sql, 1_000n)
  await setMark(caller.accountId, 900)
  assert.deepEqual(await kindsOf(caller.accountId), [])
  await setMark(caller.accountId, 2_000)
  await setMark(caller.accountId, 3_000)
  assert.deepEqual(await kindsOf(caller.accountId), ['balance_low'])
  await setMark(caller.accountId, null)
  await charge(caller, 900n)
  assert.deepEqual(await kindsOf(caller.accountId), ['balance_low'])
})

test('a statement that fails records nothing', async () => {
  const caller = await createCaller(database.sql, 1_000n)
  await setMark(caller.accountId, 900)
  await assert.rejects(
    database.sql.begin(async (transaction) => {
      await transaction`
        update balance set available = 10 where account_id = ${caller.accountId}`
      throw new Error('undone')
    }),
    /undone/,
  )
  assert.deepEqual(await kindsOf(caller.accountId), [])
})

test('empty: once until money comes in, however many calls are refused', async () => {
  const caller = await createCaller(database.sql, 1_000n)
  const refuse = async () => {
    const holds = [1, 2, 3].map(() => holdRow(caller, { amount: '5000' }))
    const verdicts = await takeHolds(database.sql, holds)
    for (const { id } of holds) assert.equal(verdicts.get(id), 'insufficient')
  }
  await Promise.all([refuse(), refuse(), refuse()])
  await refuse()
  assert.deepEqual(await kindsOf(caller.accountId), ['balance_empty'])
  await credit(caller.accountId, 100n)
  await refuse()
  assert.deepEqual(await kindsOf(caller.accountId), ['balance_empty', 'balance_empty'])
})

test('a key that expires: 7 days and 1 day before, at the steps that it lives through', async () => {
  const { accountId } = await createCaller(database.sql, 0n)
  const { sql } = database
  const key = await createKey(sql, { accountId })
  const stepsOf = async () => {
    await recordExpiringKeys(sql)
    await recordExpiringKeys(sql)
    const rows = await sql<{ days: number }[]>`
      select (subject ->> 'days')::int as days from alert_event
      where kind = 'key_expiring' and account_id = ${accountId} order by id`
    return rows.map(({ days }) => days)
  }
  const expire = (hours: number, ageHours: number) => sql`
    update api_key set expires_at = now() + ${hours} * interval '1 hour',
      created_at = now() - ${ageHours} * interval '1 hour' where id = ${key.id}`
  await expire(8 * 24, 1_000)
  assert.deepEqual(await stepsOf(), [])
  await expire(6 * 24, 2)
  assert.deepEqual(await stepsOf(), [], 'made for less than 7 days')
  await expire(7 * 24 - 0.01, 0)
  assert.deepEqual(await stepsOf(), [7], 'made for 7 days, which took a moment')
  await sql`delete from alert_event where account_id = ${accountId}`
  await expire(6 * 24, 1_000)
  assert.deepEqual(await stepsOf(), [7])
  await sql`update api_key set created_at = created_at where id = ${key.id}`
  assert.deepEqual(await stepsOf(), [7])
  await expire(20, 1_000)
  assert.deepEqual(await stepsOf(), [7, 1])
  await sql`update api_key set disabled_at = now(), expires_at = now() + interval '5 hours'
    where id = ${key.id}`
  assert.deepEqual(await stepsOf(), [7, 1])
})
