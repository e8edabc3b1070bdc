/** Windows of budgets: days, weeks and months of a zone's calendar, by the database's clock. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { closeHolds, takeHolds } from '../../../server/money/ledger/posting/move-store.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'
import { brokenInvariants, createCaller, holdRow, settleRow } from '../support.ts'
import { giveBudget, readUse, setBudgetClock } from './support.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

async function windowOf(period: string, zone: string, at: string, weekStart = 1) {
  const [row] = await database.sql<{ starts: Date; ends: Date | null }[]>`
    select * from budget_window(${period}, ${zone}, ${weekStart}::smallint, now(),
      ${at}::timestamptz)`
  const short = (time: Date | null) => time?.toISOString().slice(0, 16)
  return `${short(row?.starts ?? null)} ${short(row?.ends ?? null)}`
}

const HOUR = 3_600_000

test('windows of the calendar, in zones with days of 23 and 25 hours', async () => {
  const expected: readonly (readonly [string, string, string, string, number?])[] = [
    ['day', 'UTC', '2026-11-25T23:59:59.999Z', '2026-11-25T00:00 2026-11-26T00:00'],
    ['day', 'Asia/Shanghai', '2026-11-25T16:00Z', '2026-11-25T16:00 2026-11-26T16:00'],
    ['day', 'Asia/Kolkata', '2026-11-25T18:29Z', '2026-11-24T18:30 2026-11-25T18:30'],
    // 23 hours, then 25.
    ['day', 'America/New_York', '2026-03-08T12:00Z', '2026-03-08T05:00 2026-03-09T04:00'],
    ['day', 'America/New_York', '2026-11-01T12:00Z', '2026-11-01T04:00 2026-11-02T05:00'],
    // A day without a midnight, and one with two.
    ['day', 'America/Sao_Paulo', '2018-11-04T12:00Z', '2018-11-04T03:00 2018-11-05T02:00'],
    ['day', 'America/Havana', '2026-11-01T04:30Z', '2026-11-01T04:00 2026-11-02T05:00'],
    ['day', 'America/Havana', '2026-11-01T05:30Z', '2026-11-01T04:00 2026-11-02T05:00'],
    ['week', 'UTC', '2026-11-25T12:00Z', '2026-11-23T00:00 2026-11-30T00:00'],
    ['week', 'UTC', '2026-11-22T23:59Z', '2026-11-22T00:00 2026-11-29T00:00', 7],
    ['week', 'UTC', '2026-11-25T12:00Z', '2026-11-20T00:00 2026-11-27T00:00', 5],
    ['month', 'Europe/Berlin', '2026-10-31T22:59Z', '2026-09-30T22:00 2026-10-31T23:00'],
    ['month', 'Pacific/Auckland', '2026-02-28T11:00Z', '2026-02-28T11:00 2026-03-31T11:00'],
    ['month', 'UTC', '2028-02-29T12:00Z', '2028-02-01T00:00 2028-03-01T00:00'],
  ]
  for (const [period, zone, at, window, weekStart] of expected) {
    assert.equal(await windowOf(period, zone, at, weekStart), window, `${period} ${zone} ${at}`)
  }
})

test('each moment lies in its window, and the next one begins where it ends', async () => {
  const zones = ['UTC', 'Asia/Shanghai', 'America/Havana', 'Australia/Lord_Howe', 'Africa/Cairo']
  const cases = fc.record({
    zone: fc.constantFrom(...zones),
    period: fc.constantFrom('day', 'week', 'month'),
    weekStart: fc.integer({ min: 1, max: 7 }),
    at: fc.date({
      min: new Date('2024-01-01'),
      max: new Date('2030-01-01'),
      noInvalidDate: true,
    }),
  })
  await fc.assert(
    fc.asyncProperty(cases, async ({ zone, period, weekStart, at }) => {
      const [row] = await database.sql<{ starts: Date; ends: Date; next: Date; last: Date }[]>`
        select w.starts, w.ends, n.starts as next, l.starts as last
        from budget_window(${period}, ${zone}, ${weekStart}::smallint, now(), ${at}) w,
          budget_window(${period}, ${zone}, ${weekStart}::smallint, now(), w.ends) n,
          budget_window(${period}, ${zone}, ${weekStart}::smallint, now(),
            w.ends - interval '1 microsecond') l`
      assert.ok(row)
      assert.ok(row.starts <= at && at < row.ends)
      assert.deepEqual(row.next, row.ends)
      assert.deepEqual(row.last, row.starts)
      if (period !== 'day') return
      const hours = (row.ends.getTime() - row.starts.getTime()) / HOUR
      assert.ok(hours >= 23 && hours <= 25, `${hours} hours`)
    }),
    { numRuns: 200 },
  )
})

test('the calendar has the window of a moment, or none where midnight comes twice', async () => {
  const [row] = await database.sql<{ moments: number; others: number; wrong: number }[]>`
    with moment as (
      select period, zone, at, date_trunc(period, at, zone) as found,
        budget_start(period, zone, 1::smallint, at, at) as starts
      from unnest(array['day', 'week', 'month']) period
      cross join unnest(array['UTC', 'Asia/Shanghai', 'America/Havana', 'America/Sao_Paulo',
        'Australia/Lord_Howe', 'Africa/Cairo', 'Asia/Beirut', 'Atlantic/Azores']) zone
      cross join generate_series('2016-01-01Z'::timestamptz, '2019-01-01Z', '11 hours') at)
    select count(*)::int as moments, count(*) filter (where found <> starts)::int as others,
      count(*) filter (where found <> starts
        and budget_start(period, zone, 1::smallint, found, found) = found)::int as wrong
    from moment`
  assert.ok(row && row.others > 0 && row.others < row.moments / 100, JSON.stringify(row))
  assert.equal(row.wrong, 0)
})

test('a call is charged to the window of its hold, whenever it ends', async () => {
  const { sql } = database
  const caller = await createCaller(sql, 1_000_000n)
  await setBudgetClock(sql, '2026-11-25T15:59:59Z')
  const zone = { time_zone: 'Asia/Shanghai', period: 'day' } as const
  const budget = await giveBudget(sql, caller.accountId, 150n, zone)
  const total = await giveBudget(sql, caller.accountId, 1_000n, { period: 'total' })
  const [before, refused, after] = [holdRow(caller), holdRow(caller), holdRow(caller)]
  const take = async (row: typeof before) => (await takeHolds(sql, [row])).get(row.id)
  assert.equal(await take(before), 'held')
  assert.equal(await take(refused), `budget:${budget.id} 2026-11-25T16:00:00Z`)
  await setBudgetClock(sql, '2026-11-25T16:00:00Z')
  assert.equal(await readUse(sql, budget.id), '0+0')
  assert.equal(await take(after), 'held')
  await closeHolds(sql, [{ ...settleRow(before, 90n), held: before.amount }])
  assert.equal(await readUse(sql, budget.id), '0+100')
  await closeHolds(sql, [{ ...settleRow(after, 20n), held: after.amount }])
  assert.equal(await readUse(sql, budget.id), '20+0')
  assert.equal(await readUse(sql, total.id), '110+0')
  await setBudgetClock(sql, '2026-11-25T15:59:59Z')
  assert.equal(await readUse(sql, budget.id), '90+0')
  assert.deepEqual(await brokenInvariants(sql), [])
})
