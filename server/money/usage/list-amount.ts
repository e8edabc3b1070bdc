/** The price list of a record, and the charge at the base prices. */
import { isObject } from '../../base/lib/json.ts'
import { type Nanos, parseAmount } from '../../base/lib/money.ts'

/** The id of the base prices. */
const BASE = 'base'

interface Recorded {
  readonly charged: bigint
  readonly lines: unknown
  readonly attempts: unknown
  /** Pinned by the hold; null for a free model. */
  readonly price_version: bigint | null
  readonly price_list: string | null
}

export interface Listed {
  readonly price_version: bigint | null
  readonly price_list: string | null
  /** Null where the base list has no price to compare with. */
  readonly list_amount: Nanos | null
}

/** Returns the record with its prices: those of the fallback if one has served the call. */
export function withList<Row extends Recorded>(row: Row): Row & Listed {
  const { price_version, price_list } = readStandIn(row) ?? row
  return { ...row, price_version, price_list, list_amount: listAmountOf(row, price_list) }
}

function readStandIn({
  attempts,
}: Recorded): Pick<Listed, 'price_version' | 'price_list'> | undefined {
  const last: unknown = Array.isArray(attempts) ? attempts.at(-1) : undefined
  if (!isObject(last) || !('price_version' in last)) return undefined
  const { price_version: version, price_list: list = BASE } = last
  if (typeof version !== 'string' || typeof list !== 'string') {
    return { price_version: null, price_list: null }
  }
  return { price_version: BigInt(version), price_list: list }
}

/** A call that is free on its list may have a charge at the base prices. */
function listAmountOf({ charged, lines }: Recorded, list: string | null): Nanos | null {
  if (list === null || list === BASE) return charged
  return sumOf(lines) ?? (charged === 0n ? 0n : null)
}

function sumOf(lines: unknown): Nanos | null {
  let sum: Nanos | null = null
  for (const line of Array.isArray(lines) ? lines : []) {
    const amount = isObject(line) ? line.list_amount : undefined
    const nanos = typeof amount === 'string' ? parseAmount(amount) : undefined
    if (nanos !== undefined) sum = (sum ?? 0n) + nanos
  }
  return sum
}
