/** Shared by tests of archives: a database with calls of an old month, and a storage of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Sql } from 'postgres'
import { createLog } from '../../server/api/app/log.ts'
import { holdIdOf, newId } from '../../server/base/lib/ids.ts'
import { closeHolds, correctLost, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import type { HoldRow } from '../../server/money/ledger/store.ts'
import { type ArchivePeriod, readMonth } from '../../server/work/archive/periods.ts'
import { type Blobs, createBlobs } from '../../server/work/assets/storage/blobs.ts'
import { createDiskStorage } from '../../server/work/assets/storage/disk-storage.ts'
import { createCaller, holdRow, settleRow, type TestCaller } from '../ledger/support.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

export const MONTH = readMonth('2025-01')

export interface Shelf {
  readonly database: TestDatabase
  readonly sql: Sql
  readonly folder: string
  readonly blobs: Blobs
  readonly callers: readonly TestCaller[]
  /** The first of them. */
  readonly caller: TestCaller
}

export async function openShelf(context: Pick<TestContext, 'after'>): Promise<Shelf> {
  const database = await createTestDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'tributary-archive-'))
  context.after(async () => {
    rmSync(folder, { recursive: true })
    await database.drop()
  })
  const { sql } = database
  const caller = await createCaller(sql, 10_000n)
  const callers = [caller, await createCaller(sql, 2_000n)]
  return { database, sql, folder, blobs: openBlobs(sql, folder), callers, caller }
}

function openBlobs(sql: Sql, folder: string): Blobs {
  const log = createLog({ level: 'silent', format: 'json' })
  return createBlobs({ sql, storage: createDiskStorage(join(folder, 'files')), log })
}

/** Returns a hold whose id has a time of the month. */
export function oldHold(caller: TestCaller, n: number, more: Partial<HoldRow> = {}, month = MONTH) {
  const ms = month.start.getTime() + n * 60_000
  const requestId = `req_${ms.toString(36).padStart(9, '0')}${newId('req').slice(4, 17)}`
  return holdRow(caller, { id: holdIdOf(requestId), request_id: requestId, ...more })
}

const CHARGES = [40n, 100n, 150n, null, 70n, 0n, 30n, null]

/**
 * Posts calls of every ending: charged in part, in full, beyond the hold and the balance, released,
 * free, closed as lost, and corrected either way.
 */
export async function postCalls(
  sql: Sql,
  callers: readonly TestCaller[],
  options: {
    readonly calls: number
    readonly month?: ArchivePeriod
    readonly charges?: readonly (bigint | null)[]
  },
): Promise<HoldRow[]> {
  const { calls, month = MONTH, charges = CHARGES } = options
  const holds: HoldRow[] = []
  for (let n = 0; n < calls; n += 1) {
    const caller = callers[n % callers.length]
    if (!caller) throw new Error('no caller')
    const hold = oldHold(caller, n, { amount: n % 8 === 5 ? '0' : '100' }, month)
    holds.push(hold)
    await takeHolds(sql, [hold])
    const charge = charges[n % charges.length] ?? null
    const isLost = n % 8 > 5
    await closeHolds(sql, [settleRow(hold, charge, isLost ? { status: 'lost' } : {})])
    if (isLost) await correctLost(sql, settleRow(hold, n % 16 > 8 ? 10n : 60n))
  }
  await backdate(sql, month)
  return holds
}

/** Gives the rows of a month times in it. */
export async function backdate(sql: Sql, month = MONTH): Promise<void> {
  const range = sql`> ${month.afterId} and id < ${month.endId}`
  await sql`
    update hold set created_at = ${month.start}, closed_at = ${month.end}
    where id ${range} and state <> 'open'`
  await sql`
    update call set created_at = ${month.start}, finished_at = ${month.end}
    where hold_id in (select id from hold where id ${range})`
}

/** Returns the sums of live and archived entries, by account and ledger account. */
export async function sumBooks(sql: Sql): Promise<Record<string, bigint>> {
  const rows = await sql<{ name: string; amount: bigint }[]>`
    with flow as (
      select account_id, currency, source, destination, amount from entry
      union all
      select account_id, currency, source, destination, amount from archived_sum
    ), moved as (
      select account_id, currency, source as pot, -amount as amount from flow
      union all
      select account_id, currency, destination, amount from flow)
    select concat_ws(' ', account_id, currency, pot) as name, sum(amount)::bigint as amount
    from moved group by 1 order by 1`
  return Object.fromEntries(rows.map(({ name, amount }) => [name, amount]))
}

/** Returns how many calls, holds and entries of calls are in the database. */
export async function countRows(sql: Sql) {
  const [row] = await sql<{ calls: number; holds: number; entries: number }[]>`
    select (select count(*)::int from call) as calls, (select count(*)::int from hold) as holds,
      (select count(*)::int from entry where posting like 'hold%') as entries`
  return row
}
