/** Days of zones in the overview and in statements: of 23 and 25 hours, and off whole hours. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql } from 'postgres'
import { readStatement } from '../../server/api/admin/account/billing/statement.ts'
import { overviewHandlers } from '../../server/api/admin/account/overview/handlers.ts'
import { readOverview } from '../../server/api/admin/account/overview/store.ts'
import { newId } from '../../server/base/lib/ids.ts'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

const OVERVIEW = 'GET /accounts/:account_id/overview'

let database: TestDatabase
let sql: Sql
before(async () => {
  database = await createTestDatabase()
  sql = database.sql
})
after(() => database.drop())

/** The days at a time: `now()` of another schema takes precedence. */
async function readDays(accountId: string, zone: string, now: string) {
  return await sql.begin(async (transaction) => {
    await transaction`create schema clock`
    await transaction`
      create function clock.now() returns timestamptz language sql
      as ${transaction.unsafe(`$$ select timestamptz '${now}' $$`)}`
    await transaction`set local search_path = clock, public, pg_catalog`
    const row = await readOverview(transaction as unknown as Sql, accountId, zone)
    await transaction`drop schema clock cascade`
    return [row?.yesterday.toISOString(), row?.midnight.toISOString()]
  })
}

test('yesterday is the day before today, also where it had 23 or 25 hours', async () => {
  const { id } = await createAccount(sql, { name: 'Acme', actor: 'test' })
  for (const [zone, now, yesterday, midnight] of [
    // Half an hour after the day on which clocks went forward.
    ['America/New_York', '2026-03-09T04:30Z', '2026-03-08T05:00', '2026-03-09T04:00'],
    // The last half hour of the day on which they were set back.
    ['America/New_York', '2026-11-02T04:30Z', '2026-10-31T04:00', '2026-11-01T04:00'],
    ['Australia/Lord_Howe', '2026-10-04T13:30Z', '2026-10-03T13:30', '2026-10-04T13:00'],
    ['Asia/Kathmandu', '2026-12-31T18:15Z', '2026-12-30T18:15', '2026-12-31T18:15'],
    ['UTC', '2028-03-01T00:00Z', '2028-02-29T00:00', '2028-03-01T00:00'],
  ] as const) {
    const expected = [yesterday, midnight].map((at) => `${at}:00.000Z`)
    assert.deepEqual(await readDays(id, zone, now), expected, `${zone} ${now}`)
  }
})

/** Adds a call that was charged 3 nano-units. */
async function addCall(accountId: string, at: Date): Promise<void> {
  const id = newId('req')
  await sql`
    insert into call (request_id, hold_id, account_id, key_id, endpoint, model, status, basis,
      currency, held, charged, returned, created_at, finished_at)
    values (${id}, ${`hold_${id}`}, ${accountId}, 'key', 'chat', 'm', 'succeeded', 'usage', 'CNY',
      10, 3, 7, ${at}, ${at})`
}

test('today begins at midnight where that is not a whole hour of UTC', async () => {
  const { id } = await createAccount(sql, { name: 'Zones', actor: 'test' })
  const zones = ['Asia/Kolkata', 'Asia/Kathmandu', 'America/St_Johns', 'Australia/Adelaide']
  const [day] = await sql<{ zone: string; midnight: Date }[]>`
    select zone, date_trunc('day', now(), zone) as midnight
    from unnest(${zones}::text[]) zone
    where now() - date_trunc('day', now(), zone) between interval '1 hour' and interval '22 hours'`
  assert.ok(day)
  for (const minutes of [-10, 0, 10]) {
    await addCall(id, new Date(day.midnight.getTime() + minutes * 60_000))
  }
  const services = { sql, ledger: { flushed: async () => {} }, usage: { list: async () => [] } }
  const input = { params: { account_id: id }, query: { time_zone: day.zone } }
  const { spend } = await overviewHandlers[OVERVIEW](input as never, services as never)
  assert.deepEqual([spend.today.calls, spend.last_7_days.calls], [2n, 3n], day.zone)
})

test('the statements of two months meet at a midnight that is not a whole hour of UTC', async () => {
  const { id } = await createAccount(sql, { name: 'Months', actor: 'test' })
  const timeZone = 'Asia/Kolkata'
  const [first, second] = [new Date('2026-09-30T18:30Z'), new Date('2026-10-31T18:30Z')]
  for (const minutes of [-20, -10, 5, 20, 40]) {
    await addCall(id, new Date(second.getTime() + minutes * 60_000))
  }
  const october = await readStatement(sql, id, { from: first, to: second, timeZone })
  const to = new Date('2026-11-30T18:30Z')
  const november = await readStatement(sql, id, { from: second, to, timeZone })
  assert.deepEqual([october.charged, november.charged], [6n, 9n])
  assert.equal(october.closing, november.opening)
  assert.deepEqual(
    november.days.map(({ at, calls }) => [at.toISOString(), calls]),
    [['2026-10-31T18:30:00.000Z', 3n]],
  )
})
