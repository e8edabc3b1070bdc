/** Prepares a database as it is after three months: seeded, rolled up, and vacuumed. */
import type { Sql } from 'postgres'
import { connect } from '../../server/base/database/connection/client.ts'
import type { DatabasePlace } from '../../server/base/database/connection/open-client.ts'
import { addUpDay, countEndedCalls } from '../../server/money/usage/rollup-store.ts'
import { type Amounts, seed, settleDown } from './seed.ts'

const STATEMENT_MS = 600_000

/** Fills the database of `sql` on `server`. Returns the duration of the first rollup. */
export async function fill(
  sql: Sql,
  server: DatabasePlace,
  accountId: string,
  amounts: Amounts,
): Promise<number> {
  const [row] = await sql<{ database: string }[]>`select current_database() as database`
  const place = { ...server, database: row?.database ?? '' }
  // Filling a database exceeds the default statement timeout.
  const patient = connect(place, { connections: 1, statementTimeoutMs: STATEMENT_MS })
  await seed(patient, accountId, amounts)
  const seconds = await count(patient)
  await patient.end()
  return seconds
}

/** Runs the first rollup of a database; the gateway's own may take part. */
async function count(sql: Sql): Promise<number> {
  const start = performance.now()
  let isDone = false
  while (!isDone) {
    await countEndedCalls(sql, 6 * 3600)
    const [row] = await sql<{ done: boolean }[]>`
      select counted_until > (select max(finished_at) from call) as done from usage_watermark`
    isDone = row?.done ?? false
  }
  await addUpDays(sql)
  const seconds = (performance.now() - start) / 1000
  await settleDown(sql)
  return seconds
}

/** Adds up all days that are over; the first attempts only prepare it. */
async function addUpDays(sql: Sql): Promise<void> {
  let isDone = false
  while (!isDone) {
    await addUpDay(sql)
    const [row] = await sql<{ done: boolean }[]>`
      select days_until > now() - interval '25 hours' as done from usage_watermark`
    isDone = row?.done ?? false
  }
}
