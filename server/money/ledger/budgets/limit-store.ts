/** SQL of limits for requests that take no hold. */
import type { Sql } from 'postgres'
import { type HoldLimits, tellLeft, writeLimits } from '../hold-limits.ts'

export interface UnheldRequest {
  readonly id: string
  readonly accountId: string
  /** The hold whose end frees the slot of a concurrency limit, if there is one. */
  readonly holdId: string | null
  readonly limits: HoldLimits
}

/** Counts requests that are within their limits. Returns for each the seconds to wait, or 0. */
export async function takeRates(
  sql: Sql,
  requests: readonly UnheldRequest[],
): Promise<readonly number[]> {
  const ids = requests.map(({ id }) => id)
  const limits = writeLimits(requests.map((request) => request.limits))
  const [row] = await sql<{ waits: number[]; rest: string[] }[]>`
    select t.waits, rate_left(${ids}::text[], ${limits}::text::jsonb) as rest
    from rate_take(${ids}::text[],
      ${requests.map(({ accountId }) => accountId)}::text[],
      ${requests.map(({ holdId }) => holdId)}::text[], ${limits}::text::jsonb) as t(waits)`
  if (row) tellLeft(row.rest, requests)
  return row?.waits ?? []
}

/** Deletes up to `limit` windows in which nothing counts any more. Returns their number. */
export async function deleteOldRates(sql: Sql, limit: number): Promise<number> {
  const deleted = await sql`
    delete from rate_window where subject in (
      select subject from rate_window where updated_at < now() - interval '10 minutes'
      limit ${limit} for update skip locked)`
  return deleted.count
}
