/** Finds amounts that add up to a sum, if that is possible quickly. */
interface Item {
  readonly id: string
  readonly amount: bigint
}

const ITEMS_MAX = 40
const STEPS_MAX = 200_000
/** The tolerance per call, since costs are rounded up line by line. */
const ROUNDING_NANOS = 1_000n

/**
 * Returns the ids of a subset, the most expensive first; empty if none was found. Amounts are
 * positive.
 */
export function findSubset(items: readonly Item[], sum: bigint): string[] {
  const sorted = items.toSorted((a, b) => (a.amount < b.amount ? 1 : -1)).slice(0, ITEMS_MAX)
  const rest: bigint[] = Array.from({ length: sorted.length + 1 }, () => 0n)
  for (let at = sorted.length - 1; at >= 0; at -= 1) {
    rest[at] = (rest[at + 1] ?? 0n) + (sorted[at]?.amount ?? 0n)
  }
  let steps = 0
  const chosen: string[] = []

  function search(at: number, missing: bigint): boolean {
    const slack = ROUNDING_NANOS * BigInt(chosen.length)
    if (chosen.length > 0 && missing <= slack && -missing <= slack) return true
    const item = sorted[at]
    steps += 1
    if (!item || steps > STEPS_MAX || missing < -slack) return false
    if ((rest[at] ?? 0n) + ROUNDING_NANOS * BigInt(ITEMS_MAX) < missing) return false
    chosen.push(item.id)
    if (search(at + 1, missing - item.amount)) return true
    chosen.pop()
    return search(at + 1, missing)
  }

  return search(0, sum) ? chosen : []
}
