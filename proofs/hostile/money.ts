/** The honest callers' charges against the vendor's book, call by call. */
import type { Sql } from 'postgres'
import type { BookEntry } from '../../simulators/index.ts'
import { priceOf } from '../../testbed/prices.ts'
import type { HonestCall } from './honest.ts'

export interface MoneyVerdict {
  readonly chargedNanos: bigint
  readonly billedNanos: bigint
  /** Calls whose charge is not the bill, in words. */
  readonly breaks: readonly string[]
}

export async function compareCharges(
  sql: Sql,
  accountIds: readonly string[],
  calls: readonly HonestCall[],
  entries: readonly BookEntry[],
): Promise<MoneyVerdict> {
  const rows = await sql<{ request_id: string; charged: bigint }[]>`
    select request_id, charged from call where account_id = any (${accountIds})`
  const charges = new Map(rows.map((row) => [row.request_id, row.charged]))
  const bills = Map.groupBy(
    entries.filter(({ billed }) => billed),
    ({ marker }) => marker ?? '',
  )
  const billOf = ({ marker, model }: HonestCall) =>
    (bills.get(marker) ?? []).reduce((sum, { units }) => sum + priceOf(model, units), 0n)
  const breaks: string[] = []
  let billedNanos = 0n
  for (const call of calls) {
    const billed = billOf(call)
    billedNanos += billed
    const charged = charges.get(call.requestId ?? '') ?? 0n
    if (call.outcome === 'lost' || charged === billed) continue
    breaks.push(`${call.marker} (${call.kind}): charged ${charged}, billed ${billed}`)
  }
  const chargedNanos = rows.reduce((sum, { charged }) => sum + charged, 0n)
  if (chargedNanos !== billedNanos) {
    breaks.push(`charged ${chargedNanos} in all, billed ${billedNanos}`)
  }
  return { chargedNanos, billedNanos, breaks }
}
