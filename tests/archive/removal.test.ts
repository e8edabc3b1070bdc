/** Removing the rows of an object: those that it was written from, all of them, and no others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql, TransactionSql } from 'postgres'
import { sealBlock } from '../../server/money/ledger/books/seal-store.ts'
import { sealEverything } from '../../server/money/ledger/books/sealer.ts'
import { closeHolds, correctLost, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import { countEndedCalls } from '../../server/money/usage/rollup-store.ts'
import { type ArchiveStep, archivePeriod } from '../../server/work/archive/archive-period.ts'
import { beginArchive } from '../../server/work/archive/archive-store.ts'
import { findArchived } from '../../server/work/archive/find-record.ts'
import { readMonth } from '../../server/work/archive/periods.ts'
import { brokenInvariants, settleRow } from '../ledger/support.ts'
import { untilWaiting } from '../support/database/lock-account.ts'
import { until } from '../support/until.ts'
import { backdate, countRows, MONTH, oldHold, openShelf, postCalls, type Shelf } from './support.ts'

const FIRST_DAY = `${MONTH.name}-01`
const IN_MONTH = `id > '${MONTH.afterId}' and id < '${MONTH.endId}'`

/** Calls of a month that are sealed, counted, and about to be archived. */
async function prepare(shelf: Shelf, calls: number): Promise<void> {
  const { sql, callers } = shelf
  await postCalls(sql, callers, { calls })
  await sealEverything(sql)
  while (await countEndedCalls(sql, 86_400));
  await beginArchive(sql, MONTH)
}

class RolledBack extends Error {}

/** Returns what `work` returns, and takes back what it did. */
async function trying<T>({ sql }: Shelf, work: (sql: TransactionSql) => Promise<T>): Promise<T> {
  let found: { readonly value: T } | undefined
  const run = sql.begin(async (transaction) => {
    found = { value: await work(transaction) }
    throw new RolledBack()
  })
  await assert.rejects(run, RolledBack)
  if (!found) throw new Error('nothing was tried')
  return found.value
}

async function readVersion(sql: TransactionSql): Promise<string> {
  const [row] = await sql`select archive_version(${MONTH.afterId}, ${MONTH.endId}) as version`
  return row?.version
}

async function clear(sql: TransactionSql, version: string): Promise<string> {
  const [row] = await sql`
    select archive_clear(${FIRST_DAY}::date, ${MONTH.afterId}, ${MONTH.endId}, ${version}, '\\x00',
      'key', 1, '\\x00') as verdict`
  return row?.verdict
}

function untilClearWaits(sql: Sql): Promise<unknown> {
  return until('the archive to wait for a row', async () => {
    const waiting = await sql`
      select 1 from pg_stat_activity where wait_event_type = 'Lock'
        and query ~ 'select archive_clear' and pid <> pg_backend_pid()`
    return waiting.length > 0
  })
}

test('rows that have changed in any way are not removed', async (t) => {
  const shelf = await openShelf(t)
  await prepare(shelf, 4)
  const first = `(select min(id) from hold where ${IN_MONTH})`
  const entry = `posting, account_id, currency, source, destination, amount`
  for (const [expected, change] of [
    ['removed', 'select 1'],
    ['removed', `select 1 from hold where id = ${first} for update`],
    ['changed', `update hold set estimate = '{"a": 1}' where id = ${first}`],
    ['changed', `update hold set estimate = estimate where id = ${first}`],
    ['changed', `update call set lines = '[{}]' where hold_id = ${first}`],
    ['changed', `update call set charged = charged where hold_id = ${first}`],
    ['changed', `delete from hold where id = ${first}`],
    ['changed', `delete from call where hold_id = ${first}`],
    [
      'changed',
      `insert into entry (step, ${entry}) select 'correction', ${entry} from entry
        where posting = ${first} limit 1`,
    ],
  ] as const) {
    const found = await trying(shelf, async (sql) => {
      const version = await readVersion(sql)
      await sql.unsafe(change)
      return await clear(sql, version)
    })
    assert.equal(found, expected, change)
  }
})

test('rows that do not explain each other are not archived', async (t) => {
  const shelf = await openShelf(t)
  await prepare(shelf, 4)
  const first = `(select min(id) from hold where ${IN_MONTH})`
  for (const [expected, change] of [
    ['unbalanced', `update hold set amount = amount + 1 where id = ${first}`],
    ['unbalanced', `update call set charged = charged + 1 where hold_id = ${first}`],
    ['unexplained', `delete from hold where id = ${first}`],
    ['unexplained', `delete from call where hold_id = ${first}`],
    ['unexplained', `update call set hold_id = 'hold_other' where hold_id = ${first}`],
    ['open', `update hold set state = 'open' where id = ${first}`],
    ['open', `update hold set closed_at = now() where id = ${first}`],
    ['uncounted', `update call set finished_at = now() where hold_id = ${first}`],
  ] as const) {
    const found = await trying(shelf, async (sql) => {
      await sql.unsafe(change)
      return await clear(sql, await readVersion(sql))
    })
    assert.equal(found, expected, change)
  }
  const { sql, blobs } = shelf
  await sql.unsafe(`update hold set amount = amount + 1 where id = ${first}`)
  await assert.rejects(archivePeriod(MONTH, { sql, blobs }), {
    message: /entries of a call of 2025-01 do not add up to its hold and its charge.*audit/,
  })
  assert.equal((await countRows(sql))?.calls, 4)
})

test('a caller that commits whatever the verdict is has lost nothing', async (t) => {
  const shelf = await openShelf(t)
  const { sql } = shelf
  await prepare(shelf, 4)
  const before = await countRows(sql)
  const first = `(select min(id) from hold where ${IN_MONTH})`
  const add = (amount: number) =>
    sql.unsafe(`update hold set amount = amount + ${amount} where id = ${first}`)
  const verdicts = [
    await sql.begin(async (transaction) => await clear(transaction, 'another')),
    await add(1).then(() => sql.begin(async (one) => await clear(one, await readVersion(one)))),
  ]
  await add(-1)
  assert.deepEqual(verdicts, ['changed', 'unbalanced'])
  assert.deepEqual(await countRows(sql), before)
  const sums = ['archived_sum', 'archived_key', 'archived_block', 'archived_budget']
  for (const name of ['archive_object', ...sums]) {
    assert.equal((await sql`select 1 from ${sql(name)}`).length, 0, name)
  }
  assert.deepEqual(await brokenInvariants(sql), [])
})

test('a change that commits while its row is being deleted is archived', async (t) => {
  const shelf = await openShelf(t)
  const { sql, blobs } = shelf
  const [hold] = await postCalls(sql, shelf.callers, { calls: 4 })
  assert.ok(hold)
  let changing: Promise<unknown> | undefined
  const onStep = async (step: ArchiveStep) => {
    if (step !== 'verified' || changing) return
    const changed = Promise.withResolvers<void>()
    changing = sql.begin(async (transaction) => {
      await transaction`update call set error = 'changed' where hold_id = ${hold.id}`
      changed.resolve()
      await untilClearWaits(sql)
      // As a correction does: holds are deleted after calls, so that neither waits in a circle.
      await transaction`update hold set estimate = estimate where id = ${hold.id}`
    })
    await changed.promise
  }
  assert.deepEqual(await archivePeriod(MONTH, { sql, blobs, onStep }), { holds: 4, objects: 1 })
  await changing
  assert.equal((await findArchived(sql, blobs, hold.request_id))?.call.error, 'changed')
  assert.deepEqual(await brokenInvariants(sql), [])
})

test('entries that are sealed while they are deleted were not sealed', async (t) => {
  const shelf = await openShelf(t)
  const { sql } = shelf
  const [hold] = await postCalls(sql, shelf.callers, { calls: 4 })
  assert.ok(hold)
  while (await countEndedCalls(sql, 86_400));
  await beginArchive(sql, MONTH)
  const { clearing } = await sql.begin(async (transaction) => {
    await transaction`select from hold where id = ${hold.id} for update`
    const clearing = sql.begin(async (one) => await clear(one, await readVersion(one)))
    await untilClearWaits(sql)
    const [{ last }] = await sql<[{ last: bigint }]>`select max(id) as last from entry`
    await sealBlock(sql, last, 1_000)
    return { clearing }
  })
  assert.equal(await clearing, 'unsealed')
  assert.equal((await countRows(sql))?.calls, 4)
})

/** Calls whose entries have gaps and other entries between their ids, in small blocks. */
async function prepareScattered(shelf: Shelf): Promise<void> {
  const { sql, callers, caller } = shelf
  await sql`select setval(pg_get_serial_sequence('entry', 'id'), 985)`
  for (let n = 0; n < 3; n += 1) {
    await postCalls(sql, callers, { calls: 1, month: readMonth(`2025-0${n + 2}`) })
    await postCalls(sql, callers, { calls: n + 1 })
    await sql`select nextval(pg_get_serial_sequence('entry', 'id')) from generate_series(0, ${n})`
    const lost = oldHold(caller, 100 + n)
    await takeHolds(sql, [lost])
    await closeHolds(sql, [settleRow(lost, 150n)])
  }
  await backdate(sql)
  while (await countEndedCalls(sql, 86_400));
  const [{ last }] = await sql<[{ last: bigint }]>`select max(id) as last from entry`
  while (await sealBlock(sql, last, 7));
  await beginArchive(sql, MONTH)
}

test('each entry is compared with its mark, whatever lies between them', async (t) => {
  const shelf = await openShelf(t)
  await prepareScattered(shelf)
  const rows = await shelf.sql<{ id: bigint }[]>`
    select id from entry where posting > ${MONTH.afterId} and posting < ${MONTH.endId}`
  assert.ok(rows.length > 20 && rows.some(({ id }) => id >= 1000n))
  const [{ gaps }] = await shelf.sql<[{ gaps: number }]>`
    select count(*)::int as gaps from ledger_block where entries < upto_id - after_id`
  assert.ok(gaps > 1)
  const clearChanged = (change: string) =>
    trying(shelf, async (sql) => {
      await sql.unsafe(`alter table entry disable trigger user; ${change};
        alter table entry enable trigger user`)
      return await clear(sql, await readVersion(sql))
    })
  assert.equal(await clearChanged('select 1'), 'removed')
  for (const { id } of rows) {
    const one = `where id = ${id}`
    assert.equal(await clearChanged(`update entry set at = at + interval '1 s' ${one}`), 'altered')
  }
})

test('entries whose sum is no bigint do not come to a charge', async (t) => {
  const shelf = await openShelf(t)
  await prepare(shelf, 4)
  const found = await trying(shelf, async (sql) => {
    await sql.unsafe(`alter table entry disable trigger user;
      update entry set amount = 9223372036854775807 where posting in (
        select posting from entry where source = 'held' group by 1 having count(*) > 1);
      alter table entry enable trigger user`)
    return await clear(sql, await readVersion(sql))
  })
  assert.equal(found, 'unbalanced')
})

test('an overflow elsewhere is an error, and no verdict on the entries', async (t) => {
  const shelf = await openShelf(t)
  await prepare(shelf, 4)
  const run = shelf.sql.begin(async (sql) => {
    await sql`
      insert into archived_key (month, account_id, key_id, calls, charged, limited)
      select distinct on (account_id, key_id) ${FIRST_DAY}::date, account_id, key_id, 1,
        9223372036854775807, 0
      from call`
    return await clear(sql, await readVersion(sql))
  })
  await assert.rejects(run, { code: '22003' })
})

test('a run waits for another process that counts its calls', async (t) => {
  const shelf = await openShelf(t)
  const { sql, blobs } = shelf
  await postCalls(sql, shelf.callers, { calls: 4 })
  const { run } = await sql.begin(async (transaction) => {
    await transaction`select from usage_watermark for update`
    const run = archivePeriod(MONTH, { sql, blobs })
    await Promise.race([untilWaiting(sql, 1), run])
    return { run }
  })
  assert.deepEqual(await run, { holds: 4, objects: 1 })
})

test('removing a batch reads the rows of no other call', async (t) => {
  const shelf = await openShelf(t)
  await prepare(shelf, 4)
  const others = 2_000
  const { verdict, read } = await trying(shelf, async (sql) => {
    await sql`
      insert into hold (id, request_id, account_id, key_id, endpoint, model, amount)
      select 'hold_z' || n, 'req_z' || n, 'acct_other', 'key', 'test', 'm', 0
      from generate_series(1, ${others}::int) n`
    await sql`
      insert into call (request_id, hold_id, account_id, key_id, endpoint, model, status, basis,
        currency, held, charged, returned, created_at)
      select request_id, id, account_id, key_id, endpoint, model, 'succeeded', 'usage', 'CNY', 0, 0,
        0, now() from hold where account_id = 'acct_other'`
    const before = await countReads(sql)
    const found = await clear(sql, await readVersion(sql))
    return { verdict: found, read: (await countReads(sql)) - before }
  })
  assert.equal(verdict, 'removed')
  assert.ok(read < others, `${read} rows were read`)
})

/** Returns how many rows of the three tables this transaction has read. */
async function countReads(sql: TransactionSql): Promise<number> {
  const [row] = await sql`
    select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read
    from pg_stat_xact_user_tables where relname in ('hold', 'call', 'entry')`
  return row?.read
}

test('the version before removes rows by the lines of its object', async (t) => {
  const shelf = await openShelf(t)
  await prepare(shelf, 4)
  const remove = (content: string) =>
    trying(shelf, async (sql) => {
      const [row] = await sql`
        select archive_remove(${FIRST_DAY}::date, ${MONTH.afterId}, ${MONTH.endId},
          (select sha256(convert_to(string_agg(line || ${content}::text, '' order by id), 'UTF8'))
            from archive_lines(${MONTH.afterId}, ${MONTH.endId}, null)),
          'key', 1, '\\x00') as verdict`
      return [row?.verdict, (await sql`select 1 from hold`).length]
    })
  assert.deepEqual(await remove('\n'), ['removed', 0])
  assert.deepEqual(await remove(''), ['changed', 4])
})

test('a correction of a call that was read ahead is archived', async (t) => {
  const shelf = await openShelf(t)
  const { sql, blobs, caller } = shelf
  await postCalls(sql, shelf.callers, { calls: 6 })
  const lost = oldHold(caller, 500)
  await takeHolds(sql, [lost])
  await closeHolds(sql, [settleRow(lost, 20n, { status: 'lost' })])
  await backdate(sql)
  let batches = 0
  await archivePeriod(MONTH, {
    sql,
    blobs,
    holdsMax: 6,
    onStep: async (step) => {
      if (step !== 'verified' || ++batches > 1) return
      assert.equal(await correctLost(sql, settleRow(lost, 25n)), 'corrected')
      await backdate(sql, { ...MONTH, afterId: lost.id.slice(0, -1) })
    },
  })
  assert.equal((await countRows(sql))?.holds, 0)
  assert.equal((await findArchived(sql, blobs, lost.request_id))?.call.charged, '25')
  assert.deepEqual(await brokenInvariants(sql), [])
})
