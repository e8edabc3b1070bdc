/** Journals of dead processes against the books: in any state of a hold, it is charged once. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isUnavailable } from '../../server/base/database/unavailable.ts'
import { newId } from '../../server/base/lib/ids.ts'
import { endLease, renewLease, sweepHolds } from '../../server/money/ledger/leases/owner-store.ts'
import { createLedger } from '../../server/money/ledger/ledger.ts'
import { closeHolds, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import { readBalance, writeCheckpoints } from '../../server/money/ledger/store.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  brokenInvariants,
  createCaller,
  holdRow,
  quiet,
  settleRow,
  storedCheckpoint,
} from './support.ts'

const TIMES = { leaseSeconds: 20, patienceSeconds: 10, quietSeconds: 600 }

test('open, closed, lost and unknown holds of a journal, which is posted three times', async (t) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const { sql } = database
  const folder = mkdtempSync(join(tmpdir(), 'tributary-journal-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const caller = await createCaller(sql)
  const [dead, lost] = [newId('own'), newId('own')]
  for (const id of [dead, lost]) await renewLease(sql, { id, address: '' }, TIMES)
  const open = holdRow(caller, { owner_id: dead })
  const closed = holdRow(caller, { owner_id: dead })
  const swept = holdRow(caller, { owner_id: lost })
  await takeHolds(sql, [open, closed, swept])
  const rows = [open, closed, swept].map((hold) => ({ ...settleRow(hold, 70n), held: hold.amount }))
  await closeHolds(sql, rows.slice(1, 2))
  await writeCheckpoints(sql, [
    { hold_id: swept.id, account_id: swept.account_id, checkpoint: storedCheckpoint(20n) },
  ])
  await sql`update hold set created_at = created_at - interval '5 s' where id = ${swept.id}`
  await endLease(sql, lost)
  assert.equal((await sweepHolds(sql, newId('own'), TIMES, 500)).closed, 1)
  const path = join(folder, `${dead}.jsonl`)
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('')

  const ownerId = newId('own')
  const log = quiet
  const ledger = createLedger({ sql, ownerId, isUnavailable, log, journalFolder: folder })
  t.after(() => ledger.stop())
  writeFileSync(path, text)
  await ledger.settleJournals()
  assert.equal(readFileSync(path, 'utf8'), text, 'its process is alive')
  await endLease(sql, dead)
  for (const _time of [1, 2, 3]) {
    writeFileSync(path, text)
    await ledger.settleJournals()
    assert.equal(existsSync(path), false)
    const calls = await sql<{ status: string; charged: bigint }[]>`
      select status, charged from call where account_id = ${caller.accountId}`
    assert.deepEqual(
      calls.map(({ status, charged }) => [status, charged]),
      [1, 2, 3].map(() => ['succeeded', 70n]),
    )
    assert.equal((await readBalance(sql, caller.accountId))?.available, 790n)
  }
  const unknown = settleRow(holdRow(caller), 70n)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, `${JSON.stringify(unknown)}\n`)
  await ledger.settleJournals()
  assert.deepEqual([existsSync(path), existsSync(`${path}.unknown`)], [false, true])
  assert.deepEqual(await brokenInvariants(sql), [])
})
