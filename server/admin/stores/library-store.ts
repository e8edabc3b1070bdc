/** What the tasks behind entries of the library have cost. */
import type { Sql } from 'postgres'

export async function readCharges(
  sql: Sql,
  accountId: string,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql<{ request_id: string; charged: bigint }[]>`
    select request_id, charged from call
    where request_id = any(${requestIds as string[]}::text[]) and account_id = ${accountId}`
  return new Map(rows.map((row) => [row.request_id, row.charged]))
}
