/** A week of calls is verified once; audits start from its sums, and changes of it are found. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Sql } from 'postgres'
import { connect } from '../../../server/base/database/connection/client.ts'
import { type AuditResult, audit } from '../../../server/money/ledger/audit/audit.ts'
import { weekOf } from '../../../server/money/ledger/audit/weeks.ts'
import { sealEverything } from '../../../server/money/ledger/books/sealer.ts'
import {
  closeHolds,
  correctLost,
  takeHolds,
} from '../../../server/money/ledger/posting/move-store.ts'
import type { HoldRow } from '../../../server/money/ledger/store.ts'
import { countEndedCalls } from '../../../server/money/usage/rollup-store.ts'
import { archivePeriod } from '../../../server/work/archive/archive-period.ts'
import { readMonth } from '../../../server/work/archive/periods.ts'
import { backdate, oldHold, openShelf, postCalls } from '../../archive/support.ts'
import { brokenInvariants, settleRow } from '../support.ts'

const MONTHS = ['2024-01', '2024-02', '2024-03'].map(readMonth)
const FULL = { isFull: true }

/** Posts calls in a week of each month, and one that is closed as lost in the second. */
async function openWeeks(t: Pick<TestContext, 'after'>) {
  const shelf = await openShelf(t)
  const { sql, callers, caller } = shelf
  const holds: HoldRow[] = []
  for (const month of MONTHS) holds.push(...(await postCalls(sql, callers, { calls: 16, month })))
  const lost = oldHold(caller, 99, {}, MONTHS[1])
  await takeHolds(sql, [lost])
  await closeHolds(sql, [settleRow(lost, 10n, { status: 'lost' })])
  await backdate(sql, MONTHS[1])
  await sealEverything(sql)
  return { ...shelf, holds, lost }
}

/** Changes rows as somebody with all rights does who switches the triggers off. */
async function tamper(sql: Sql, statement: string): Promise<void> {
  const tables = ['entry', 'hold', 'call', 'verified_week']
  const switched = (state: string) =>
    tables.map((name) => `alter table ${name} ${state} trigger user`)
  await sql.unsafe([...switched('disable'), statement, ...switched('enable')].join(';'))
}

const idsOf = (checks: readonly string[]) => checks.map((text) => JSON.parse(text).id)

test('weeks begin on Monday, and their ids are those of their times', () => {
  const week = weekOf(new Date('2026-03-01T23:59:59.999Z'))
  assert.deepEqual([week.name, week.end.toISOString()], ['2026-02-23', '2026-03-02T00:00:00.000Z'])
  assert.equal(weekOf(week.end).name, '2026-03-02')
  assert.equal(weekOf(week.end).startId, week.endId)
  assert.ok(week.startId < week.endId)
})

test('a second audit starts from the sums of the first', async (t) => {
  const { sql } = await openWeeks(t)
  const first = await audit(sql)
  assert.deepEqual([first.ok, first.weeks], [true, { known: 3, verified: 3 }])
  const second = await audit(sql)
  assert.deepEqual([second.ok, second.weeks], [true, { known: 3, verified: 0 }])
  const full = await audit(sql, FULL)
  assert.deepEqual([full.ok, full.weeks], [true, { known: 0, verified: 0 }])
})

test('a week is not verified before it has ended, is sealed and has no open hold', async (t) => {
  const { sql, caller } = await openShelf(t)
  const now = new Date()
  const recent = { ...readMonth('2025-01'), start: new Date(now.getTime() - 86_400_000) }
  const holds = [oldHold(caller, 0, {}, recent), oldHold(caller, 1)]
  await takeHolds(sql, holds)
  const verified = async () => (await audit(sql)).weeks
  await sealEverything(sql)
  assert.deepEqual(await verified(), { known: 0, verified: 0 })
  await closeHolds(
    sql,
    holds.map((hold) => settleRow(hold, 60n)),
  )
  assert.deepEqual(await verified(), { known: 0, verified: 0 })
  await sealEverything(sql)
  assert.deepEqual(await verified(), { known: 1, verified: 1 })
})

test('changes of a verified week', async (t) => {
  const { sql, holds } = await openWeeks(t)
  assert.equal((await audit(sql)).weeks.verified, 3)

  await t.test('are refused', async () => {
    const { id = '', request_id: request = '' } = holds[3] ?? {}
    for (const change of [
      sql`update hold set amount = amount + 1 where id = ${id}`,
      sql`update call set model = 'other' where request_id = ${request}`,
      sql`delete from hold where id = ${id}`,
      sql`delete from call where request_id = ${request}`,
      sql`truncate hold`,
      sql`truncate call`,
    ]) {
      await assert.rejects(change, { code: '42501' })
    }
    assert.deepEqual((await audit(sql)).weeks, { known: 3, verified: 0 })
    assert.deepEqual(await brokenInvariants(sql, FULL), [])
  })

  const cases = [
    [
      'an amount of a hold',
      `update hold set amount = amount + 1 where id = $hold`,
      /I5.*I25|I25.*I5/,
    ],
    ['a charge', `update call set charged = charged + 1 where hold_id = $hold`, /I6/],
    [
      'lines of a call',
      `update call set lines = '[{"unit": "call"}]' where hold_id = $hold`,
      /I25/,
    ],
    ['an entry', `update entry set amount = amount + 1 where posting = $hold`, /I14/],
    ['a removed entry', `delete from entry where posting = $hold and step = 'return'`, /I14/],
  ] as const
  for (const [what, statement, found] of cases) {
    await t.test(
      `below the triggers are found by a full audit, and named until they are mended: ${what}`,
      async () => {
        const hold = holds[0]?.id ?? ''
        const tables = ['hold', 'call', 'entry']
        for (const name of tables) await sql.unsafe(`create table kept_${name} as table ${name}`)
        await tamper(sql, statement.replaceAll('$hold', `'${hold}'`))
        // The price of the speed, as the guide says.
        assert.deepEqual(await brokenInvariants(sql), [])
        const broken = await brokenInvariants(sql, FULL)
        assert.match(broken.join(), found)
        assert.ok(idsOf(broken).includes('I25'))
        assert.ok(idsOf(await brokenInvariants(sql)).includes('I25'))

        const put = (name: string) => `delete from ${name};
        insert into ${name} ${name === 'entry' ? 'overriding system value' : ''} table kept_${name}`
        await tamper(sql, tables.map(put).join(';'))
        assert.deepEqual(await brokenInvariants(sql, FULL), [])
        assert.deepEqual(await brokenInvariants(sql), [])
        for (const name of tables) await sql.unsafe(`drop table kept_${name}`)
      },
    )
  }
})

test('a balance, an entry for a verified call and a sum of it are found at once', async (t) => {
  const { sql, holds, caller } = await openWeeks(t)
  await audit(sql)
  await sql`update balance set available = available + 1 where account_id = ${caller.accountId}`
  assert.deepEqual(idsOf(await brokenInvariants(sql)), ['I2'])
  await sql`update balance set available = available - 1 where account_id = ${caller.accountId}`

  await sql`update verified_sum set amount = amount + 1 where destination = 'revenue'`
  assert.ok(idsOf(await brokenInvariants(sql)).includes('I15'))
  assert.ok(idsOf(await brokenInvariants(sql, FULL)).includes('I25'))
  await sql`update verified_sum set amount = amount - 1 where destination = 'revenue'`
  assert.deepEqual(await brokenInvariants(sql, FULL), [])

  await sql`insert into entry (posting, step, account_id, currency, source, destination, amount)
    values (${holds[0]?.id ?? ''}, 'correction', ${caller.accountId}, 'CNY', 'available', 'revenue', 5)`
  for (const isSealed of [false, true]) {
    if (isSealed) await sealEverything(sql)
    const broken = idsOf(await brokenInvariants(sql))
    assert.deepEqual(
      ['I2', 'I6', 'I18'].filter((id) => !broken.includes(id)),
      [],
      String(broken),
    )
  }
  assert.equal((await audit(sql)).weeks.known, 2)
})

test('a late settlement has its week verified again', async (t) => {
  const { sql, lost } = await openWeeks(t)
  await audit(sql)
  assert.equal(await correctLost(sql, settleRow(lost, 60n)), 'corrected')
  // Its entry is not sealed yet.
  assert.deepEqual((await audit(sql)).weeks, { known: 2, verified: 0 })
  await sealEverything(sql)
  assert.deepEqual((await audit(sql)).weeks, { known: 3, verified: 1 })
  assert.deepEqual(await brokenInvariants(sql), [])
  assert.deepEqual(await brokenInvariants(sql, FULL), [])
})

test('a settlement that posts nothing has its week verified again too', async (t) => {
  const { sql, lost } = await openWeeks(t)
  await audit(sql)
  assert.equal(await correctLost(sql, settleRow(lost, 10n)), 'corrected')
  assert.deepEqual((await audit(sql)).weeks, { known: 3, verified: 1 })
  assert.deepEqual(await brokenInvariants(sql, FULL), [])
})

test('a settlement that is under way, or comes meanwhile, leaves its week to the next', async (t) => {
  const { sql, database, lost } = await openWeeks(t)
  const other = connect(database.place, { patient: true })
  t.after(() => other.end({ timeout: 1 }))
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const waiting = other.begin(async (transaction) => {
    await correctLost(transaction as unknown as Sql, settleRow(lost, 60n))
    begun.resolve()
    await end.promise
    throw new Error('as if killed')
  })
  await begun.promise
  const during = await audit(sql)
  assert.deepEqual([during.ok, during.weeks], [true, { known: 0, verified: 0 }])
  end.resolve()
  await assert.rejects(waiting, /as if killed/)

  const week = weekOf(MONTHS[1]?.start ?? new Date()).name
  const onWeek = async (reached: string) => {
    if (reached !== week) return
    assert.equal(await correctLost(other, settleRow(lost, 60n)), 'corrected')
  }
  const raced = await audit(sql, { onWeek })
  assert.deepEqual([raced.ok, raced.weeks], [true, { known: 2, verified: 2 }])
  await sealEverything(sql)
  assert.deepEqual((await audit(sql)).weeks, { known: 3, verified: 1 })
  assert.deepEqual(await brokenInvariants(sql, FULL), [])
})

test('an audit that is killed goes on, and two at once verify each week', async (t) => {
  const { sql, database } = await openWeeks(t)
  let weeks = 0
  const onWeek = () => {
    if (++weeks === 2) throw new Error('as if killed')
  }
  await assert.rejects(audit(sql, { onWeek }), /as if killed/)
  const other = connect(database.place, { patient: true })
  t.after(() => other.end({ timeout: 1 }))
  const both = await Promise.all([audit(sql), audit(other)])
  assert.deepEqual(
    both.map(({ ok }) => ok),
    [true, true],
  )
  const last = await audit(sql)
  assert.equal(last.weeks.known, 3)
  assert.deepEqual(await brokenInvariants(sql, FULL), [])
})

test('an audit whose week another one verifies meanwhile leaves it to that one', async (t) => {
  const { sql, database } = await openWeeks(t)
  const other = connect(database.place, { patient: true })
  t.after(() => other.end({ timeout: 1 }))
  const inner: Promise<AuditResult>[] = []
  const onWeek = async () => {
    if (inner.length > 0) return
    inner.push(audit(other))
    await inner[0]
  }
  const outer = await audit(sql, { onWeek })
  const [first] = await Promise.all(inner)
  assert.deepEqual([first?.ok, first?.weeks], [true, { known: 3, verified: 3 }])
  assert.deepEqual([outer.ok, outer.weeks], [true, { known: 3, verified: 0 }])
  assert.deepEqual(await brokenInvariants(sql, FULL), [])
})

test('an archive takes its calls out of verified weeks', async (t) => {
  const { sql, blobs } = await openWeeks(t)
  await audit(sql)
  while (await countEndedCalls(sql, 86_400));
  for (const [index, month] of MONTHS.entries()) {
    const killed = archivePeriod(month, {
      sql,
      blobs,
      holdsMax: 5,
      onStep: (step) => {
        if (step === 'removed') throw new Error('as if killed')
      },
    })
    await assert.rejects(killed, /as if killed/)
    assert.deepEqual(await brokenInvariants(sql), [])
    await archivePeriod(month, { sql, blobs })
    assert.deepEqual((await audit(sql)).weeks, { known: 2 - index, verified: 0 })
    assert.deepEqual(await brokenInvariants(sql), [])
    assert.deepEqual(await brokenInvariants(sql, FULL), [])
  }
  const [row] = await sql`select count(*)::int as weeks from verified_week`
  assert.equal(row?.weeks, 0)
})

test('a key with a spend limit and its charges in verified weeks add up', async (t) => {
  const { sql, caller } = await openShelf(t)
  const holds = [0, 1, 2].map((n) => oldHold(caller, n, { spend_limit: '1000' }))
  await takeHolds(sql, holds)
  await closeHolds(
    sql,
    holds.map((hold) => settleRow(hold, 60n)),
  )
  await backdate(sql)
  await sealEverything(sql)
  assert.deepEqual([(await audit(sql)).weeks.verified, await brokenInvariants(sql)], [1, []])
  await sql`update key_spend set spent = spent - 1`
  assert.deepEqual(idsOf(await brokenInvariants(sql)), ['I17'])
})

test('a session that may not write audits all the same', async (t) => {
  const { sql, database } = await openWeeks(t)
  const reader = connect(database.place, { connections: 1, patient: true })
  t.after(() => reader.end({ timeout: 1 }))
  await reader`set default_transaction_read_only = on`
  const before = await audit(reader)
  assert.deepEqual([before.ok, before.weeks], [true, { known: 0, verified: 0 }])
  await audit(sql)
  const after = await audit(reader)
  assert.deepEqual([after.ok, after.weeks], [true, { known: 3, verified: 0 }])
})

test('the digest of a week covers every column', async (t) => {
  const { sql } = await openShelf(t)
  const columns = await sql<{ table: string; name: string }[]>`
    select relname::text as table, attname::text as name from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    where relname in ('hold', 'call') and relnamespace = current_schema()::regnamespace
      and attnum > 0 and not attisdropped`
  const [row] = await sql`select prosrc from pg_proc where proname = 'week_digest'`
  const missing = columns.filter(({ table, name }) => !row?.prosrc.includes(`${table[0]}.${name}`))
  assert.deepEqual(missing, [])
})
