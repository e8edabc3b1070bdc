/** The gateway's own records of the proof's calls. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { Entry } from './catalog.ts'

export interface RecordRow {
  readonly request_id: string
  readonly state: 'open' | 'settled' | 'released'
  readonly amount: bigint
  readonly status: string | null
  readonly basis: string | null
  readonly review: boolean | null
  readonly charged: bigint | null
  readonly returned: bigint | null
  readonly debt: bigint | null
  readonly lines: readonly RecordLine[] | null
  readonly error: string | null
  readonly closed_at: Date | null
  readonly price_list: string
  /** Of the version that its hold pinned. */
  readonly prices: readonly Entry[] | null
}

export interface RecordLine {
  readonly unit: string
  readonly quantity: number
  readonly unit_price: string
  readonly per: number
  readonly amount: string
}

export interface BalanceRow {
  readonly account_id: string
  readonly available: bigint
  readonly held: bigint
  readonly debt: bigint
}

const CLOSED_WITHIN_MS = 60_000
const POLL_MS = 50

/** Returns the records of these calls, by request id, once all their holds are closed. */
export async function readRecords(
  sql: Sql,
  requestIds: readonly string[],
): Promise<Map<string, RecordRow>> {
  await waitUntilClosed(sql, requestIds)
  const rows = await sql<RecordRow[]>`
    select h.request_id, h.state, h.amount, h.closed_at,
      c.status, c.basis, c.review, c.charged, c.returned,
      c.debt, c.lines, c.error, coalesce(p.list_id, 'base') as price_list,
      p.prices
    from hold h left join call c on c.hold_id = h.id
    left join price p on p.version = h.price_version
    where h.request_id = any(${requestIds as string[]})`
  return new Map(rows.map((row) => [row.request_id, row]))
}

async function waitUntilClosed(sql: Sql, requestIds: readonly string[]): Promise<void> {
  const deadline = performance.now() + CLOSED_WITHIN_MS
  while (performance.now() < deadline) {
    const [row] = await sql<{ open: number }[]>`
      select count(*)::int as open from hold
      where state = 'open' and request_id = any(${requestIds as string[]})`
    if (row?.open === 0) return
    await sleep(POLL_MS)
  }
}

export async function readBalances(sql: Sql): Promise<BalanceRow[]> {
  return await sql<BalanceRow[]>`select account_id, available, held, debt from balance`
}
