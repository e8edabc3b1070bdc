/** The expected content of a restored database: all calls acknowledged before, none begun after. */
import type { Sql } from 'postgres'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import type { BookEntry } from '../../simulators/index.ts'
import { priceOf } from '../../testbed/prices.ts'
import type { TimedCall } from './fleet.ts'

/** The times, by `performance.now()`, between which the state of a copy lies. */
export interface Moment {
  readonly fromMs: number
  readonly toMs: number
}

export interface Judgement {
  readonly breaks: readonly string[]
  /** Calls answered before the moment, each found with its charge. */
  readonly known: number
  /** Calls begun after the moment, none of them found. */
  readonly later: number
}

/** Charges by request id. */
export type Charges = ReadonlyMap<string, bigint>

/** Returns everything that was charged in this database. */
export async function readCharges(sql: Sql): Promise<Charges> {
  const rows = await sql<{ request_id: string; charged: bigint }[]>`
    select request_id, charged from call`
  return new Map(rows.map((row) => [row.request_id, row.charged]))
}

/** Returns the invariants that the audit of this database finds broken. */
export async function readBreaks(sql: Sql): Promise<string[]> {
  const { checks } = await audit(sql)
  const broken = checks.filter(({ ok }) => !ok)
  return broken.map(({ id, details }) => `audit ${id}: ${JSON.stringify(details[0])}`)
}

/** Compares a copy with the callers' answers and the charges of its source. */
export function judgeCopy(
  found: Charges,
  calls: readonly TimedCall[],
  moment: Moment,
  source: Charges,
): Judgement {
  const complete = calls.filter(({ outcome }) => outcome === 'complete')
  const idsOf = (calls: readonly TimedCall[]) => calls.flatMap(({ requestId }) => requestId ?? [])
  const before = idsOf(complete.filter(({ endedMs }) => endedMs < moment.fromMs))
  const after = idsOf(complete.filter(({ startedMs }) => startedMs > moment.toMs))
  const breaks: string[] = []
  for (const id of before) {
    const [charged, expected] = [found.get(id), source.get(id)]
    if (charged === undefined) breaks.push(`${id} was answered before and is not there`)
    else if (charged !== expected) breaks.push(`${id}: charged ${charged}, must be ${expected}`)
  }
  for (const id of after) if (found.has(id)) breaks.push(`${id} began later and is there`)
  return { breaks, known: before.length, later: after.length }
}

/** Returns the charges of the source, and those that differ from the upstream's book. */
export async function judgeSource(
  sql: Sql,
  calls: readonly TimedCall[],
  book: readonly BookEntry[],
): Promise<{ readonly charges: Charges; readonly breaks: readonly string[] }> {
  const complete = calls.filter(({ outcome }) => outcome === 'complete')
  const charges = await readCharges(sql)
  const billed = new Map(book.filter((one) => one.billed).map((one) => [one.marker, one.units]))
  const breaks = complete.flatMap(({ marker, model, requestId }) => {
    const units = billed.get(marker)
    const price = units && priceOf(model, units)
    const charged = charges.get(requestId ?? '')
    return charged === price ? [] : [`${marker}: charged ${charged}, the upstream billed ${price}`]
  })
  return { charges, breaks }
}
