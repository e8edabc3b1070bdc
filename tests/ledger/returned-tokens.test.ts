/** Tokens that a call counted towards a limit and did not use: returned once, and only its own. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { closeHolds, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import type { HoldRow } from '../../server/money/ledger/store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { createCaller, holdRow, settleRow } from './support.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

/** Returns holds of 700 tokens each of an account that may use `most` in a minute. */
async function createHolds(most: number, count: number) {
  const caller = await createCaller(database.sql, 1_000_000n)
  const name = `account:${caller.accountId}`
  const limits = { subjects: [{ name, tokens: most }], tokens: 700 }
  const holds = Array.from({ length: count }, () => holdRow(caller, { limits }))
  const take = async (hold: HoldRow) => (await takeHolds(database.sql, [hold])).get(hold.id)
  /** Closes a hold whose call used `used` tokens. */
  const close = async (hold: HoldRow, used: number) => {
    const returned = { tokens: 700 - used, names: [name] }
    const row = { ...settleRow(hold, 10n), held: hold.amount, returned_tokens: returned }
    return (await closeHolds(database.sql, [row])).get(hold.id)
  }
  const counted = async () => {
    const [row] = await database.sql<{ times: bigint[]; tokens: bigint[] }[]>`
      select times, tokens from rate_window where subject = ${name}`
    return row?.tokens.map(Number)
  }
  /** Moves the hold and what it counted into the past. */
  const age = async (hold: HoldRow, milliseconds: number, place?: number) => {
    await database.sql`
      update hold set created_at = created_at - ${milliseconds} * interval '1 ms'
      where id = ${hold.id}`
    if (place !== undefined) {
      await database.sql`
        update rate_window set times[${place}] = times[${place}] - ${milliseconds}
        where subject = ${name}`
    }
  }
  return { holds, take, close, counted, age }
}

test('what was not used is returned once, more than the estimate is added', async () => {
  const { holds, take, close, counted } = await createHolds(2_000, 2)
  const [first, second] = holds as [HoldRow, HoldRow]
  assert.equal(await take(first), 'held')
  assert.equal(await close(first, 10), 'closed')
  assert.deepEqual(await counted(), [10])
  assert.equal(await close(first, 10), 'already')
  assert.deepEqual(await counted(), [10])
  assert.equal(await take(second), 'held')
  assert.equal(await close(second, 900), 'closed')
  assert.equal(
    (await counted())?.reduce((sum, one) => sum + one, 0),
    910,
  )
})

test('a call of over a minute returns nothing of what others count', async () => {
  const { holds, take, close, counted, age } = await createHolds(2_000, 2)
  const [long, later] = holds as [HoldRow, HoldRow]
  assert.equal(await take(long), 'held')
  await age(long, 70_000, 1)
  assert.equal(await take(later), 'held')
  assert.deepEqual(await counted(), [700], 'the entry of the long call is over')
  assert.equal(await close(long, 10), 'closed')
  assert.deepEqual(await counted(), [700])
})

test('a call that waited for its account returns all of it', async () => {
  const { holds, take, close, counted, age } = await createHolds(2_000, 2)
  const [early, waiting] = holds as [HoldRow, HoldRow]
  assert.equal(await take(early), 'held')
  // In a part of the window of its own.
  await age(early, 2_000, 1)
  assert.equal(await take(waiting), 'held')
  assert.deepEqual(await counted(), [700, 700])
  // Its statement began before the other one counted.
  await age(waiting, 5_000)
  assert.equal(await close(waiting, 10), 'closed')
  assert.equal(await close(early, 10), 'closed')
  assert.equal(
    (await counted())?.reduce((sum, one) => sum + one, 0),
    20,
  )
})

test('what was counted before the clock was set back by an hour refuses no call', async () => {
  const { holds, take, counted } = await createHolds(700, 3)
  const [first, second, third] = holds as [HoldRow, HoldRow, HoldRow]
  assert.equal(await take(first), 'held')
  assert.match((await take(second)) ?? '', /^limited:/)
  await database.sql`
    update rate_window set times = array(select t + 3600000 from unnest(times) t)
    where subject = ${first.limits?.subjects[0]?.name ?? ''}`
  assert.equal(await take(second), 'held')
  assert.deepEqual(await counted(), [700])
  assert.match((await take(third)) ?? '', /^limited:/)
})

test('what counts after the clock was set back by 90 seconds is kept and the rest dropped', async () => {
  const { holds, take, counted } = await createHolds(2_000, 2)
  const [first, second] = holds as [HoldRow, HoldRow]
  assert.equal(await take(first), 'held')
  await database.sql`
    update rate_window set requests = array[1, 1, 1, 1, 1, 1], tokens = array[1, 2, 3, 4, 5, 6],
      times = array(select times[1] + s * 1000 from unnest(array[20, 25, 30, 100, 105, 110]) s)
    where subject = ${first.limits?.subjects[0]?.name ?? ''}`
  assert.equal(await take(second), 'held')
  assert.deepEqual(await counted(), [1, 2, 3, 700])
})
