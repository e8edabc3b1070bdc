/**
 * Compares three books: the callers' answers, the ledger's charges, and the simulators' bills. Each
 * call is judged separately, then the sums.
 */
import type { Sql } from 'postgres'
import type { BookEntry } from '../simulators/index.ts'
import type { FinishedCall } from './calls.ts'
import { highestEstimate, priceOf } from './prices.ts'

/** A hold with its usage record, if it has one. */
export interface LedgerRow {
  readonly key_id: string
  readonly request_id: string
  readonly state: 'open' | 'settled' | 'released'
  readonly model: string
  readonly amount: bigint
  readonly charged: bigint | null
  readonly status: string | null
  readonly basis: string | null
  readonly lines: readonly { readonly unit: string; readonly quantity: number }[] | null
}

/** Returns every hold taken after `since`, by the database's clock. */
export async function readLedger(sql: Sql, since: Date): Promise<LedgerRow[]> {
  return await sql<LedgerRow[]>`
    select h.key_id, h.request_id, h.state, h.model, h.amount, c.charged, c.status, c.basis, c.lines
    from hold h left join call c on c.hold_id = h.id
    where h.created_at >= ${since} order by h.created_at`
}

export async function readClock(sql: Sql): Promise<Date> {
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`
  if (!row) throw new Error('the database has no clock')
  return row.now
}

export interface Verdict {
  readonly call: FinishedCall
  readonly row: LedgerRow | undefined
  readonly chargedNanos: bigint
  readonly bookedNanos: bigint
  /** Problems in words; empty if the books agree. */
  readonly breaks: readonly string[]
}

/** Judges one call. `rows` are the holds of its key, `entries` the book's lines of its marker. */
function judge(
  call: FinishedCall,
  rows: readonly LedgerRow[],
  entries: readonly BookEntry[],
): Verdict {
  const breaks: string[] = []
  const billed = entries.filter((entry) => entry.billed)
  const [row] = rows
  const [entry] = billed
  if (rows.length > 1) breaks.push(`${rows.length} holds`)
  if (billed.length > 1) breaks.push(`billed ${billed.length} times by the upstream`)
  const bookedNanos = billed.reduce((sum, one) => sum + priceOf(call.model, one.units), 0n)
  const chargedNanos = row?.charged ?? 0n
  if (row?.state === 'open') breaks.push('its hold is still open')
  if (row && row.state !== 'open' && row.charged === null) breaks.push('closed without a record')
  if (chargedNanos > mostFor(call, row, bookedNanos)) {
    breaks.push(`charged ${chargedNanos}, billed ${bookedNanos}`)
  }
  if (call.outcome === 'complete') breaks.push(...judgeComplete(call, row, entry))
  if (call.outcome === 'refused' && chargedNanos > 0n) breaks.push('refused and charged')
  return { call, row, chargedNanos, bookedNanos, breaks }
}

/** Returns the highest allowed charge: all are exact except estimates. */
function mostFor(call: FinishedCall, row: LedgerRow | undefined, bookedNanos: bigint): bigint {
  const estimated = row?.basis === 'checkpoint' || row?.basis === 'partial'
  return estimated ? highestEstimate(call, bookedNanos) : bookedNanos
}

/** Every call acknowledged as complete must be in all three books, to the unit. */
function judgeComplete(
  call: FinishedCall,
  row: LedgerRow | undefined,
  entry: BookEntry | undefined,
): string[] {
  if (!row) return ['acknowledged, and not in the ledger']
  if (!entry) return ['acknowledged, and not in the book']
  const breaks: string[] = []
  // Messages of a WebSocket do not contain the ids of their calls.
  const hasId = call.kind !== 'responses-socket'
  if (hasId && row.request_id !== call.requestId) breaks.push('recorded under another request id')
  if (row.state !== 'settled' || row.status !== 'succeeded') {
    breaks.push(`acknowledged, and recorded as ${row.state}, ${row.status}, ${row.basis}`)
  }
  const booked = priceOf(call.model, entry.units)
  if (row.charged !== booked) breaks.push(`charged ${row.charged}, must be ${booked}`)
  for (const { unit, quantity } of row.lines ?? []) {
    if (entry.units[unit] !== quantity) {
      breaks.push(`${unit}: recorded ${quantity}, billed ${entry.units[unit]}`)
    }
  }
  for (const [unit, quantity] of Object.entries(call.usage ?? {})) {
    if (entry.units[unit] !== quantity) {
      breaks.push(`${unit}: told ${quantity}, billed ${entry.units[unit]}`)
    }
  }
  return breaks
}

/** Judges all calls, each of which used its own key, and looks for holds without a call. */
export function compareBooks(
  calls: readonly FinishedCall[],
  rows: readonly LedgerRow[],
  entries: readonly BookEntry[],
): { readonly verdicts: readonly Verdict[]; readonly breaks: readonly string[] } {
  const byKey = Map.groupBy(rows, (row) => row.key_id)
  const byMarker = Map.groupBy(entries, (entry) => entry.marker ?? '')
  const verdicts = calls.map((call) =>
    judge(call, byKey.get(call.keyId) ?? [], byMarker.get(call.marker) ?? []),
  )
  const breaks = verdicts.flatMap(({ call, breaks }) =>
    breaks.map((text) => `${call.marker} (${call.kind}, ${call.outcome}): ${text}`),
  )
  const keyIds = new Set(calls.map((call) => call.keyId))
  const unknownHolds = rows.filter((row) => !keyIds.has(row.key_id))
  breaks.push(...unknownHolds.map((row) => `${row.request_id}: a hold that no call of ours made`))
  return { verdicts, breaks }
}
