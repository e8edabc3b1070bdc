/** Counts every call that has ended, also beside a gateway whose rollup does the same. */
import type { Sql } from 'postgres'
import { countEndedCalls } from '../../server/money/usage/rollup-store.ts'
import { until } from '../support/until.ts'

/** Resolves once the figures have all calls that ended before; some are counted seconds later. */
export async function countAllCalls(sql: Sql): Promise<void> {
  const [last] = await sql`select max(finished_at)::text as at from call`
  await until('the count of all calls', async () => {
    await countEndedCalls(sql, 3600)
    const counted = await sql`
      select from usage_watermark where counted_until > ${last?.at}::text::timestamptz`
    return counted.length > 0
  })
}
