/** Compares three books: the callers' answers, the vendor's bills, the ledger's charges. */
import type { Sql } from 'postgres'
import type { BookEntry } from '../../simulators/index.ts'
import { highestEstimate, priceOf } from '../../testbed/prices.ts'
import type { CallerRequest } from './load.ts'

export interface Row {
  readonly id: string
  readonly key_id: string
  readonly request_id: string
  readonly state: 'open' | 'settled' | 'released'
  readonly charged: bigint | null
  readonly status: string | null
  readonly basis: string | null
  readonly lost_charge: bigint | null
  /** `host:port` of the process that served it. */
  readonly address: string | null
}

export function readRows(sql: Sql): Promise<Row[]> {
  return sql<Row[]>`
    select h.id, h.key_id, h.request_id, h.state, c.charged, c.status, c.basis, c.lost_charge,
      o.address
    from hold h left join call c on c.hold_id = h.id left join owner o on o.id = h.owner_id`
}

export interface Judged {
  readonly breaks: readonly string[]
  readonly bookedNanos: bigint
  readonly chargedNanos: bigint
}

/** Judges one request by the holds of its API key and the vendor's entries of its marker. */
export function judge(
  request: CallerRequest,
  rows: readonly Row[],
  entries: readonly BookEntry[],
  killed: ReadonlySet<string>,
): Judged {
  const { call, attempts, isNamed } = request
  const breaks: string[] = []
  const prices = entries.filter(({ billed }) => billed).map((one) => priceOf(call.model, one.units))
  const bookedNanos = prices.reduce((sum, one) => sum + one, 0n)
  const chargedNanos = rows.reduce((sum, row) => sum + (row.charged ?? 0n), 0n)
  const charged = rows.filter((row) => (row.charged ?? 0n) > 0n)
  if (charged.length > 1) {
    breaks.push(`${isNamed ? 'one Idempotency-Key' : 'one call'}, ${charged.length} charges`)
  }
  if (!isNamed && rows.length > 1) breaks.push(`${rows.length} holds`)
  for (const row of rows) {
    if (row.state === 'open') breaks.push(`${row.request_id}: its hold is still open`)
    else if (row.charged === null) breaks.push(`${row.request_id}: closed without a record`)
    if (row.status === 'lost' && !killed.has(row.address ?? '')) {
      breaks.push(`${row.request_id}: recorded as lost, and its process lives`)
    }
  }
  const isEstimate = charged.some(({ basis }) => basis === 'checkpoint' || basis === 'partial')
  if (chargedNanos > (isEstimate ? highestEstimate(call, bookedNanos) : bookedNanos)) {
    breaks.push(`charged ${chargedNanos}, billed ${bookedNanos}`)
  }
  for (const one of attempts) {
    if (one.outcome !== 'complete') continue
    const requestId = one.replayOf ?? one.requestId
    // Messages of a WebSocket do not contain the ids of their calls.
    const row =
      call.kind === 'responses-socket'
        ? rows[0]
        : rows.find(({ request_id }) => request_id === requestId)
    if (!row) breaks.push(`${requestId}: acknowledged, and not in the ledger`)
    else if (row.status !== 'succeeded') breaks.push(`${requestId}: complete, and ${row.status}`)
    else if (!prices.some((price) => price === row.charged)) {
      breaks.push(`${requestId}: charged ${row.charged}, billed ${prices}`)
    }
  }
  return {
    breaks: breaks.map((text) => `${call.marker} (${call.kind}): ${text}`),
    bookedNanos,
    chargedNanos,
  }
}
