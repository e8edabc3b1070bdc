/**
 * Compares the three books of the task proofs: the callers' answers, the ledger, the vendor's book.
 */
import type { Sql } from 'postgres'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import type { AcceptedTask } from './vendor.ts'

export interface Comparison {
  readonly breaks: readonly string[]
  readonly tasks: number
  readonly succeeded: number
  readonly failed: number
  readonly adopted: number
  readonly writtenOff: number
  /** From the vendor's end of a task to the gateway's, in ms. */
  readonly lateness: readonly number[]
}

interface Row {
  readonly id: string
  readonly state: string
  readonly upstream_id: string | null
  readonly finished_at: Date | null
  readonly charged: bigint | null
  readonly uncharged: string | null
  readonly adopted: boolean
}

/** `taskIds`: the task id in the answer to each call, by the text it sent. */
export async function compareBooks(
  sql: Sql,
  taskIds: ReadonlyMap<string, string>,
  accepted: ReadonlyMap<string, AcceptedTask>,
): Promise<Comparison> {
  const rows = await readRows(sql)
  const byId = new Map(rows.map((row) => [row.id, row]))
  const breaks = rows.flatMap((row) => judge(row, accepted))
  for (const [text, id] of taskIds) {
    if (!byId.has(id)) breaks.push(`${text}: its task ${id} is lost`)
  }
  const { checks } = await audit(sql)
  for (const { id, ok, details } of checks) {
    if (!ok) breaks.push(`audit ${id}: ${JSON.stringify(details.slice(0, 3))}`)
  }
  return {
    breaks: [...breaks, ...judgeVendor(rows, accepted)],
    tasks: rows.length,
    succeeded: rows.filter(({ state }) => state === 'succeeded').length,
    failed: rows.filter(({ state }) => state === 'failed').length,
    adopted: rows.filter(({ adopted }) => adopted).length,
    writtenOff: rows.filter(({ uncharged }) => uncharged !== null).length,
    lateness: rows.flatMap((row) => latenessOf(row, accepted)),
  }
}

async function readRows(sql: Sql): Promise<Row[]> {
  return await sql<Row[]>`
    select t.id, t.state, a.upstream_id, t.finished_at, c.charged, o.reason as uncharged,
      exists (select 1 from task_event e where e.task_id = t.id and e.kind = 'adopted') as adopted
    from task t join task_attempt a on a.id = t.attempt_id
    left join call c on c.hold_id = t.hold_id
    left join uncharged_cost o on o.task_id = t.id`
}

function judge(row: Row, accepted: ReadonlyMap<string, AcceptedTask>): string[] {
  const vendorTask = row.upstream_id === null ? undefined : accepted.get(row.upstream_id)
  if (row.finished_at === null) return [`${row.id} is still ${row.state}`]
  if (row.charged === null) return [`${row.id} ended without a record`]
  if (row.state === 'failed') return row.charged === 0n ? [] : [`${row.id} failed and was charged`]
  if (!vendorTask) return [`${row.id} succeeded and the vendor never had it`]
  if (vendorTask.fails) return [`${row.id} succeeded though the vendor's failed`]
  return row.charged > 0n ? [] : [`${row.id} succeeded and was not charged`]
}

/**
 * Requires that everything the vendor bills has a charge or a record, and nothing is sent twice.
 */
function judgeVendor(rows: readonly Row[], accepted: ReadonlyMap<string, AcceptedTask>): string[] {
  const charged = new Set(rows.flatMap(({ upstream_id: id }) => (id === null ? [] : [id])))
  const billed = [...accepted.values()].filter(({ fails }) => !fails)
  const unpaid = billed.filter(({ id }) => !charged.has(id)).length
  const noted = rows.filter(({ uncharged }) => uncharged !== null).length
  const breaks = unpaid > noted ? [`${unpaid} billed by the vendor, ${noted} noted as unpaid`] : []
  return breaks
}

function latenessOf(row: Row, accepted: ReadonlyMap<string, AcceptedTask>): number[] {
  const vendorTask = row.upstream_id === null ? undefined : accepted.get(row.upstream_id)
  if (!vendorTask || row.finished_at === null) return []
  return [Math.max(0, row.finished_at.getTime() - vendorTask.endsAtMs)]
}
