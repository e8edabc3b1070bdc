/** Archiving a month: nothing is lost, and the books stay exact between any two steps. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { listMovements } from '../../server/api/admin/account/billing/store.ts'
import { selectTaskList } from '../../server/api/admin/account/tasks/store.ts'
import { startSpend } from '../../server/money/accounts/key-store.ts'
import { sealEverything } from '../../server/money/ledger/books/sealer.ts'
import { renewLease } from '../../server/money/ledger/leases/owner-store.ts'
import { createLedger } from '../../server/money/ledger/ledger.ts'
import { closeHolds, correctLost, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import {
  type ArchiveStep,
  archivePeriod,
  checkPeriod,
  listPeriods,
} from '../../server/work/archive/archive-period.ts'
import { auditArchives } from '../../server/work/archive/audit-archives.ts'
import { findArchived } from '../../server/work/archive/find-record.ts'
import { monthOf, readMonth } from '../../server/work/archive/periods.ts'
import { readStated, verifyPeriod } from '../../server/work/archive/verify-archives.ts'
import { pathOfContent } from '../../server/work/assets/storage/disk-storage.ts'
import { brokenInvariants, createCaller, holdRow, quiet, settleRow } from '../ledger/support.ts'
import {
  backdate,
  countRows,
  MONTH,
  oldHold,
  openShelf,
  postCalls,
  type Shelf,
  sumBooks,
} from './support.ts'

const TIMES = { leaseSeconds: 20, patienceSeconds: 10, quietSeconds: 600 }

async function brokenArchives({ sql, blobs }: Shelf) {
  const checks = await auditArchives(sql, blobs)
  return checks.flatMap(({ id, details }) => details.map((one) => `${id} ${one.found}`))
}

async function assertExact(shelf: Shelf, sums: Record<string, bigint>): Promise<void> {
  assert.deepEqual(await sumBooks(shelf.sql), sums)
  assert.deepEqual(await brokenInvariants(shelf.sql), [])
}

/** One of the calls leaves a debt. */
async function open(t: TestContext, calls: number): Promise<Shelf> {
  const shelf = await openShelf(t)
  await postCalls(shelf.sql, shelf.callers, { calls: calls - 1 })
  const poor = await createCaller(shelf.sql, 100n)
  await postCalls(shelf.sql, [poor], { calls: 1, charges: [150n] })
  return shelf
}

test('a month leaves the database, and every sum stays', async (t) => {
  const shelf = await open(t, 40)
  const { sql, blobs } = shelf
  const later = readMonth('2025-02')
  await postCalls(sql, shelf.callers, { calls: 9, month: later })
  const sums = await sumBooks(sql)
  const archived = await archivePeriod(MONTH, { sql, blobs, holdsMax: 7 })
  assert.deepEqual(archived, { holds: 40, objects: 6 })
  assert.deepEqual((await countRows(sql))?.holds, 9)
  await assertExact(shelf, sums)
  assert.deepEqual(await brokenArchives(shelf), [])
  assert.deepEqual(await archivePeriod(MONTH, { sql, blobs }), {
    ...archived,
    holds: 0,
    objects: 0,
  })

  assert.deepEqual(
    (await listPeriods(sql, 'month', new Date())).map(({ name }) => name),
    ['2025-02'],
  )
  const renew = () => renewLease(sql, { id: 'own_test', address: '' }, TIMES)
  const { newest_entry: newest } = await renew()
  await archivePeriod(later, { sql, blobs })
  assert.deepEqual(await countRows(sql), { calls: 0, holds: 0, entries: 0 })
  // A gateway that saw it fall would take the database for an older one.
  assert.ok((await renew()).newest_entry >= newest)
  await assertExact(shelf, sums)
  assert.deepEqual(await brokenArchives(shelf), [])
})

test('an archived call is read back as it was', async (t) => {
  const shelf = await openShelf(t)
  const { sql, blobs } = shelf
  const [hold] = await postCalls(sql, shelf.callers, { calls: 3 })
  assert.ok(hold)
  const [call] = await sql`select * from call where hold_id = ${hold.id}`
  const entries = await sql`select * from entry where posting = ${hold.id} order by id`
  await archivePeriod(MONTH, { sql, blobs })
  const found = await findArchived(sql, blobs, hold.request_id)
  assert.equal(found?.call.charged, String(call?.charged))
  assert.equal(found?.hold.amount, '100')
  assert.deepEqual(
    found?.entries.map(({ id, step, amount }) => [BigInt(id), step, BigInt(amount)]),
    entries.map(({ id, step, amount }) => [id, step, amount]),
  )
  assert.equal(await findArchived(sql, blobs, oldHold(shelf.caller, 1).request_id), undefined)
})

for (const step of ['begun', 'written', 'verified', 'removing', 'removed', 'listed'] as const) {
  for (const pass of [1, 2]) {
    test(`after a failure at "${step}" (${pass}) the next run goes on`, async (t) => {
      const shelf = await open(t, 20)
      const { sql, blobs } = shelf
      const sums = await sumBooks(sql)
      let passes = 0
      const onStep = (reached: ArchiveStep) => {
        if (reached !== step) return
        passes += 1
        if (passes === pass) throw new Error('as if killed')
      }
      const failing = archivePeriod(MONTH, { sql, blobs, holdsMax: 6, onStep })
      if (pass === 1 || !['begun', 'listed'].includes(step)) {
        await assert.rejects(failing, /as if killed/)
      } else await failing
      await assertExact(shelf, sums)
      await archivePeriod(MONTH, { sql, blobs, holdsMax: 6 })
      assert.deepEqual(await countRows(sql), { calls: 0, holds: 0, entries: 0 })
      await assertExact(shelf, sums)
      assert.deepEqual(await brokenArchives(shelf), [])
      const [stated] = await readStated(sql, MONTH.name)
      assert.ok(stated)
      assert.equal((await verifyPeriod(sql, blobs, stated)).holds, 20)
    })
  }
}

test('content of a failed run is left to housekeeping, and that of the archive is not', async (t) => {
  const shelf = await open(t, 5)
  const { sql, blobs } = shelf
  const onStep = (step: ArchiveStep) => {
    if (step === 'verified') throw new Error('as if killed')
  }
  await assert.rejects(archivePeriod(MONTH, { sql, blobs, onStep }))
  await archivePeriod(MONTH, { sql, blobs })
  await sql`update loose_blob set due_at = now()`
  assert.equal(await blobs.clearDue(), 1)
  assert.deepEqual(await brokenArchives(shelf), [])
})

test('a month is refused while it is young or has an open hold', async (t) => {
  const shelf = await open(t, 5)
  const { sql, blobs, caller } = shelf
  await assert.rejects(checkPeriod(sql, monthOf(new Date())), /before 35 days/)
  const hold = oldHold(caller, 99)
  await takeHolds(sql, [hold])
  await assert.rejects(archivePeriod(MONTH, { sql, blobs }), /holds of 2025-01 are open.*1 of 6/)
  await closeHolds(sql, [settleRow(hold, 5n)])
  await assert.rejects(archivePeriod(MONTH, { sql, blobs }), /closed in the last 7 days/)
  assert.equal((await countRows(sql))?.calls, 6)
  await backdate(sql)
  assert.equal((await archivePeriod(MONTH, { sql, blobs })).holds, 6)
})

test('calls go on meanwhile, and a correction that comes first is archived', async (t) => {
  const shelf = await open(t, 30)
  const { sql, blobs, caller } = shelf
  const lost = oldHold(caller, 500)
  await takeHolds(sql, [lost])
  await closeHolds(sql, [settleRow(lost, 20n, { status: 'lost' })])
  await backdate(sql)
  let calls = 0
  const onStep = async (step: ArchiveStep) => {
    const hold = holdRow(caller)
    await takeHolds(sql, [hold])
    await closeHolds(sql, [settleRow(hold, 1n)])
    calls += 1
    if (step === 'verified' && calls < 4) {
      assert.equal(await correctLost(sql, settleRow(lost, 25n)), 'corrected')
      await backdate(sql)
    }
  }
  await archivePeriod(MONTH, { sql, blobs, onStep })
  assert.equal((await countRows(sql))?.calls, calls)
  assert.equal((await findArchived(sql, blobs, lost.request_id))?.call.charged, '25')
  assert.deepEqual(await brokenInvariants(sql), [])
  await sealEverything(sql)
  assert.deepEqual(await brokenArchives(shelf), [])
})

test('a settlement that comes after the archive posts nothing and says so', async (t) => {
  const shelf = await openShelf(t)
  const { sql, blobs, caller } = shelf
  const lost: string[] = []
  const errors: object[] = []
  const ledger = createLedger({
    sql,
    ownerId: 'own_test',
    isUnavailable: () => false,
    log: { ...quiet, error: (fields: object) => errors.push(fields) },
    continuity: { broken: () => undefined, compare: () => undefined, lost: (id) => lost.push(id) },
  })
  t.after(() => ledger.stop())
  const old = oldHold(caller, 1)
  const held = await ledger.hold({
    requestId: old.request_id,
    accountId: caller.accountId,
    keyId: caller.keyId,
    endpoint: 'test',
    model: 'm',
    amountNanos: 100n,
    priceVersion: null,
    estimate: {},
    spendLimitNanos: null,
    idempotency: null,
  })
  assert.ok('hold' in held)
  await closeHolds(sql, [settleRow(old, null, { status: 'lost' })])
  await backdate(sql)
  await archivePeriod(MONTH, { sql, blobs })
  const sums = await sumBooks(sql)
  const verdict = await ledger.settle(held.hold, {
    chargeNanos: 50n,
    status: 'succeeded',
    basis: 'usage',
    lines: [],
    attempts: [],
  })
  assert.equal(verdict, 'archived')
  assert.deepEqual(lost, [])
  assert.match(JSON.stringify(errors), /0\.00000005/)
  await assertExact(shelf, sums)
})

test('a key that gets its limit later starts with its archived charges', async (t) => {
  const shelf = await open(t, 8)
  const { sql, blobs, caller } = shelf
  const { keyId, accountId } = caller
  const [before] = await sql`select sum(charged) as charged from call where key_id = ${keyId}`
  await archivePeriod(MONTH, { sql, blobs })
  await sql.begin((transaction) => startSpend(transaction, { first: keyId, accountId }))
  const [spend] = await sql`select spent::text from key_spend where key_id = ${keyId}`
  assert.equal(spend?.spent, String(before?.charged))
  assert.deepEqual(await brokenInvariants(sql), [])
})

test('a task stays, without its hold, and the audit knows why', async (t) => {
  const shelf = await openShelf(t)
  const { sql, blobs, caller } = shelf
  const hold = oldHold(caller, 1, { task_id: 'task_old' })
  await takeHolds(sql, [hold])
  await sql`
    insert into task (id, kind, account_id, key_id, request_id, hold_id, endpoint, model, state,
      request, quantities, facts, attempt_id, channel_id, due_at, expires_at, finished_at)
    values ('task_old', 'video', ${caller.accountId}, ${caller.keyId}, ${hold.request_id},
      ${hold.id}, 'test', 'm', 'succeeded', '{}', '{}', '{}', 'att_old', 'main', null, now(), now())`
  await closeHolds(sql, [settleRow(hold, 60n, { task_id: 'task_old' })])
  await backdate(sql)
  assert.deepEqual(await brokenInvariants(sql), [])
  await archivePeriod(MONTH, { sql, blobs })
  assert.deepEqual(await brokenInvariants(sql), [])
  const listed = await selectTaskList(sql, { accountId: caller.accountId, limit: 9 })
  assert.deepEqual(
    listed.map(({ id, held, charged }) => [id, held, charged]),
    [['task_old', 0n, null]],
  )
  await sql`update archive set after_id = end_id`
  assert.match((await brokenInvariants(sql)).join(), /I7"/)
})

test('a ledger page starts from nothing, with one line for the archived month', async (t) => {
  const { sql, blobs, caller } = await open(t, 20)
  const list = () => listMovements(sql, { accountId: caller.accountId, limit: 100 })
  assert.equal((await list()).length, 11)
  await archivePeriod(MONTH, { sql, blobs })
  const rows = await list()
  assert.deepEqual(
    rows.map(({ id, kind }) => [id.split('_')[0], kind]),
    [
      ['cred', 'top_up'],
      ['archive', 'charge'],
    ],
  )
  const oldest = rows[1]
  assert.equal(oldest && oldest.balance_after - oldest.amount, 0n)
})

test('batches of any size, failing anywhere, keep every sum', async (t) => {
  const shelf = await openShelf(t)
  const { sql, blobs } = shelf
  let month = readMonth('2024-01')
  const steps = fc.constantFrom<ArchiveStep>('written', 'verified', 'removing', 'removed', 'listed')
  const runs = fc.array(fc.record({ step: steps, pass: fc.integer({ min: 1, max: 4 }) }), {
    maxLength: 3,
  })
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 6 }),
    runs,
    async (calls, holdsMax, failures) => {
      await postCalls(sql, shelf.callers, { calls, month })
      const sums = await sumBooks(sql)
      for (const { step, pass } of failures) {
        let passes = 0
        const onStep = (reached: ArchiveStep) => {
          if (reached === step && ++passes === pass) throw new Error('as if killed')
        }
        await archivePeriod(month, { sql, blobs, holdsMax, onStep }).catch(() => undefined)
        await assertExact(shelf, sums)
      }
      await archivePeriod(month, { sql, blobs, holdsMax })
      assert.equal((await countRows(sql))?.holds, 0)
      await assertExact(shelf, sums)
      month = monthOf(month.end)
    },
  )
  await fc.assert(property, { numRuns: 6, endOnFailure: true })
  assert.deepEqual(await brokenArchives(shelf), [])
})

test('two runs at once archive each call once', async (t) => {
  const shelf = await open(t, 24)
  const { sql, blobs } = shelf
  const sums = await sumBooks(sql)
  const run = () => archivePeriod(MONTH, { sql, blobs, holdsMax: 2 })
  const runs = await Promise.all([run(), run(), run()])
  assert.equal(
    runs.reduce((sum, { holds }) => sum + holds, 0),
    24,
  )
  await assertExact(shelf, sums)
  assert.deepEqual(await brokenArchives(shelf), [])
})

test('a changed object is noticed', async (t) => {
  const shelf = await open(t, 12)
  const { sql, blobs, folder } = shelf
  await archivePeriod(MONTH, { sql, blobs, holdsMax: 5 })
  const [object] = await sql`select storage_key from archive_object order by first_id limit 1`
  const path = pathOfContent(join(folder, 'files'), object?.storage_key)
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(30) ^ 1, 30)
  writeFileSync(path, bytes)
  assert.match(
    (await brokenArchives(shelf)).join(),
    /I21 .*its SHA-256 differs.*I22 .*its SHA-256 differs/,
  )
  assert.deepEqual(await brokenInvariants(sql), [])
})

for (const [name, change, found] of [
  ['sum', 'update archived_sum set amount = amount + 1', /I2"|I15"/],
  ['block', 'update archived_block set entries = entries - 1 where number = 1', /I14"/],
  ['charge', 'update archived_key set charged = charged + 1', /I20"/],
] as const) {
  test(`a changed ${name} of the archive breaks the audit`, async (t) => {
    const shelf = await open(t, 12)
    await archivePeriod(MONTH, { sql: shelf.sql, blobs: shelf.blobs })
    await shelf.sql.unsafe(change)
    assert.match((await brokenInvariants(shelf.sql)).join(), found)
  })
}

test('an entry that is not what was sealed is not archived', async (t) => {
  const { sql, blobs } = await open(t, 12)
  await sealEverything(sql)
  await sql.unsafe(`alter table entry disable trigger user;
    update entry set at = at + interval '1 second' where posting =
      (select min(id) from hold);
    alter table entry enable trigger user`)
  await assert.rejects(archivePeriod(MONTH, { sql, blobs }), /not what was sealed/)
  assert.equal((await countRows(sql))?.calls, 12)
})

test('a live entry of a block with archived ones cannot be removed', async (t) => {
  const shelf = await open(t, 12)
  const { sql, blobs, caller } = shelf
  const hold = holdRow(caller)
  await takeHolds(sql, [hold])
  await closeHolds(sql, [settleRow(hold, 30n)])
  await archivePeriod(MONTH, { sql, blobs })
  assert.deepEqual(await brokenInvariants(sql), [])
  await assert.rejects(sql`delete from entry where posting = ${hold.id}`, /append-only/)
  await sql.unsafe(`alter table entry disable trigger user;
    delete from entry where posting = '${hold.id}' and step = 'return';
    alter table entry enable trigger user`)
  assert.match((await brokenInvariants(sql, { isFull: true })).join(), /I14.*archived/)
})
