/** Archiving weeks, beside months: the books stay exact, and other commands name the week. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { listMovements } from '../../server/api/admin/account/billing/store.ts'
import {
  archivePeriod,
  checkPeriod,
  listPeriods,
} from '../../server/work/archive/archive-period.ts'
import { auditArchives } from '../../server/work/archive/audit-archives.ts'
import { findArchived } from '../../server/work/archive/find-record.ts'
import { readMonth, readWeek, timeBefore, weekAt } from '../../server/work/archive/periods.ts'
import { readStated, verifyPeriod } from '../../server/work/archive/verify-archives.ts'
import { openCommandLine, runWith } from '../cli/support.ts'
import { brokenInvariants, createCaller } from '../ledger/support.ts'
import { countRows, openShelf, postCalls, type Shelf, sumBooks } from './support.ts'

const JANUARY = readMonth('2025-01')
/** It has two days of January, and the others of February. */
const STRADDLING = readWeek('2025-01-27')

async function assertExact(shelf: Shelf, sums: Record<string, bigint>): Promise<void> {
  assert.deepEqual(await sumBooks(shelf.sql), sums)
  assert.deepEqual(await brokenInvariants(shelf.sql), [])
  const checks = await auditArchives(shelf.sql, shelf.blobs)
  assert.deepEqual(
    checks.flatMap(({ details }) => details),
    [],
  )
}

/** Posts calls on the first day of a month, the last Monday of it, and the second day after it. */
async function open(t: TestContext): Promise<Shelf & { readonly sums: Record<string, bigint> }> {
  const shelf = await openShelf(t)
  const days = [JANUARY, STRADDLING, { ...STRADDLING, start: new Date('2025-02-02') }]
  for (const month of days) await postCalls(shelf.sql, shelf.callers, { calls: 8, month })
  return { ...shelf, sums: await sumBooks(shelf.sql) }
}

test('a week that two months share is archived whole, and the months after it', async (t) => {
  const shelf = await open(t)
  const { sql, blobs, sums } = shelf
  const listed = await listPeriods(sql, 'week', new Date())
  assert.deepEqual(
    listed.map(({ name }) => name),
    ['2024-12-30', STRADDLING.name],
  )
  assert.deepEqual(await archivePeriod(STRADDLING, { sql, blobs, holdsMax: 5 }), {
    holds: 16,
    objects: 4,
  })
  assert.equal((await countRows(sql))?.holds, 8)
  await assertExact(shelf, sums)
  assert.deepEqual(await archivePeriod(JANUARY, { sql, blobs }), { holds: 8, objects: 1 })
  await assertExact(shelf, sums)
  const found = []
  for (const stated of await readStated(sql)) found.push(await verifyPeriod(sql, blobs, stated))
  assert.deepEqual(
    found.map(({ kind, name, holds, problems }) => [kind, name, holds, problems]),
    [
      ['month', '2025-01', 8, []],
      ['week', '2025-01-27', 16, []],
    ],
  )
})

test('a ledger page has a line for an archived week, which ends with its Sunday', async (t) => {
  const { sql, blobs, caller } = await open(t)
  await archivePeriod(STRADDLING, { sql, blobs })
  await archivePeriod(JANUARY, { sql, blobs })
  const rows = await listMovements(sql, { accountId: caller.accountId, limit: 100 })
  assert.deepEqual(
    rows.slice(1).map(({ id, reason, at }) => [id, reason, at.toISOString().slice(0, 19)]),
    [
      ['archive_2025-01-27', 'all archived calls of the week of 2025-01-27', '2025-02-02T23:59:59'],
      ['archive_2025-01', 'all archived calls of 2025-01', '2025-01-31T23:59:59'],
    ],
  )
  const oldest = rows.at(-1)
  assert.equal(oldest && oldest.balance_after - oldest.amount, 0n)
})

test('a week after a failure goes on, and one that is young is refused', async (t) => {
  const shelf = await open(t)
  const { sql, blobs, sums } = shelf
  let batches = 0
  const onStep = (step: string) => {
    if (step === 'removed' && ++batches === 2) throw new Error('as if killed')
  }
  await assert.rejects(archivePeriod(STRADDLING, { sql, blobs, holdsMax: 5, onStep }), /as if/)
  assert.deepEqual(await sumBooks(sql), sums)
  assert.deepEqual(await archivePeriod(STRADDLING, { sql, blobs }), { holds: 6, objects: 1 })
  await assertExact(shelf, sums)
  await assert.rejects(checkPeriod(sql, weekAt(new Date())), /before 35 days/)
})

test('two weeks may be archived at once', async (t) => {
  const shelf = await open(t)
  const { sql, blobs, sums } = shelf
  const archived = await Promise.all(
    [readWeek('2024-12-30'), STRADDLING].map((week) =>
      archivePeriod(week, { sql, blobs, holdsMax: 3 }),
    ),
  )
  assert.deepEqual(
    archived.map(({ holds }) => holds),
    [8, 16],
  )
  assert.equal((await countRows(sql))?.holds, 0)
  await assertExact(shelf, sums)
})

for (const [first, second] of [
  [readWeek('2024-04-01'), readMonth('2024-04')],
  [readMonth('2024-04'), readWeek('2024-04-01')],
] as const) {
  test(`a ${second.kind} that begins with an archived ${first.kind} is refused`, async (t) => {
    const shelf = await openShelf(t)
    const { sql, blobs, callers } = shelf
    await postCalls(sql, callers, { calls: 4, month: first })
    await archivePeriod(first, { sql, blobs })
    await postCalls(sql, callers, { calls: 4, month: first })
    const sums = await sumBooks(sql)
    await assert.rejects(archivePeriod(second, { sql, blobs }), {
      message: `${second.name} cannot be archived: its first day is that of ${first.name}`,
    })
    assert.deepEqual(await archivePeriod(first, { sql, blobs }), { holds: 4, objects: 1 })
    await assertExact(shelf, sums)
  })
}

test('an archived call has every column of its hold, its record and its entries', async (t) => {
  const shelf = await openShelf(t)
  const { sql, blobs, callers } = shelf
  const [hold] = await postCalls(sql, callers, { calls: 1, month: STRADDLING })
  assert.ok(hold)
  const columns = await sql<{ table: string; names: string[] }[]>`
    select table_name as table, array_agg(column_name::text order by column_name) as names
    from information_schema.columns
    where table_schema = current_schema() and table_name in ('hold', 'call', 'entry')
    group by 1`
  const expected = Object.fromEntries(columns.map(({ table, names }) => [table, names.sort()]))
  await archivePeriod(STRADDLING, { sql, blobs })
  const record = await findArchived(sql, blobs, hold.request_id)
  const [entry] = record?.entries ?? []
  assert.deepEqual(
    Object.entries({ hold: record?.hold, call: record?.call, entry }).map(([name, row]) => [
      name,
      Object.keys(row ?? {}).sort(),
    ]),
    ['hold', 'call', 'entry'].map((name) => [name, expected[name]]),
  )
})

test('a week is named by its Monday', () => {
  assert.deepEqual(
    [STRADDLING.start, STRADDLING.end].map((time) => time.toISOString().slice(0, 10)),
    ['2025-01-27', '2025-02-03'],
  )
  for (const [name, message] of [
    ['2025-01-29', '2025-01-29 is not a Monday: its week is 2025-01-27'],
    ['2025-02-30', /not a day/],
    ['2025-01', /not a day/],
  ] as const) {
    assert.throws(() => readWeek(name), { message })
  }
  const now = new Date('2030-03-31T12:00:00Z')
  assert.equal(
    timeBefore(now, { kind: 'week', count: 5 }).toISOString(),
    '2030-02-24T12:00:00.000Z',
  )
})

test('weeks are chosen by age, listed, read back and named by other commands', async (t) => {
  const { sql, environment, run, json, file } = await openCommandLine(t)
  const callers = [await createCaller(sql, 10_000n)]
  const holds = await postCalls(sql, callers, { calls: 6, month: STRADDLING })
  const older = ['archive', 'create', '--older-than', '5w']
  const { name } = STRADDLING
  assert.deepEqual(await json(...older, '--dry-run'), [{ week: name, calls: 6 }])
  assert.deepEqual(await json(...older), [{ week: name, holds: 6, objects: 1 }])
  assert.match((await run(...older)).out, /nothing to archive/)
  const [listed] = await json('archive', 'list')
  assert.deepEqual([listed.week, listed.month, listed.holds], [name, undefined, 6])
  const [verified] = await json('archive', 'verify', '--week', name)
  assert.deepEqual([verified.week, verified.problems], [name, []])
  const lines = (await run('archive', 'read', '--week', name)).out.trimEnd().split('\n')
  assert.deepEqual(
    lines.map((text) => JSON.parse(text).hold.id),
    holds.map(({ id }) => id),
  )
  assert.deepEqual((await json('audit', '--archives')).ok, true)
  assert.equal((await run('archive', 'read')).code, 1)
  assert.equal((await run('archive', 'create', '--week', name, '--month', '2025-01')).code, 1)
  assert.match((await run('archive', 'create', '--week', '2025-01-28')).err, /week is 2025-01-27/)

  await sql`insert into channel (id, upstream) values ('main', 'openai-compatible')`
  const reconcile = async (day: string) => {
    const invoice = file(`${day}.csv`, `Day,Model,Cost,Currency\n${day},m,1,CNY\n`)
    const words = ['reconcile', '--channel', 'main', '--invoice', invoice, '--time-zone', 'UTC']
    const columns = ['--map', 'date=Day,model=Model,amount=Cost,currency=Currency']
    return await runWith(environment, [...words, ...columns])
  }
  assert.match((await reconcile('2025-02-02')).err, /of 2025-01-27 are archived.*--week 2025-01-27/)
  assert.doesNotMatch((await reconcile('2025-02-03')).err, /archived/)
})
