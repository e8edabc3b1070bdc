/** Waits until every hold is closed; a hold that is open after a minute was forgotten. */
import type { Sql } from 'postgres'
import { until } from '../tests/support/until.ts'

const CLOSED_WITHIN_MS = 60_000

/** Resolves to the wait in milliseconds. Throws after a minute. */
export async function waitForHolds(sql: Sql): Promise<number> {
  const start = performance.now()
  await until(
    'the last open hold',
    async () => {
      const [row] = await sql<{ open: number }[]>`
        select count(*)::int as open from hold where state = 'open'`
      return row?.open === 0 ? true : undefined
    },
    CLOSED_WITHIN_MS,
  ).catch(async () => {
    const open = await sql<object[]>`
      select endpoint, created_at, checkpoint from hold where state = 'open' limit 20`
    throw new Error(`holds are open after a minute: ${JSON.stringify(open)}`)
  })
  return performance.now() - start
}
