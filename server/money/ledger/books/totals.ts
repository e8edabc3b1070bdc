/** Sums of entries: nano-units by currency and ledger account. */
export interface EntryTotals {
  add(entry: TotalledEntry): void
  /** Returns the form stored in a block: JSON without whitespace, names sorted by bytes. */
  toString(): string
}

interface TotalledEntry {
  readonly currency: string
  readonly source: string
  readonly destination: string
  readonly amount: bigint
}

export function createTotals(): EntryTotals {
  const currencies = new Map<string, Map<string, bigint>>()

  function move(currency: string, pot: string, amount: bigint): void {
    const pots = currencies.get(currency) ?? new Map<string, bigint>()
    pots.set(pot, (pots.get(pot) ?? 0n) + amount)
    currencies.set(currency, pots)
  }

  return {
    add({ currency, source, destination, amount }) {
      move(currency, source, -amount)
      move(currency, destination, amount)
    },
    toString: () => write(currencies, (pots) => write(pots, (amount) => `"${amount}"`)),
  }
}

function write<T>(values: ReadonlyMap<string, T>, show: (value: T) => string): string {
  const names = [...values.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const members = names.flatMap((name) => {
    const value = values.get(name)
    return value === undefined ? [] : [`${JSON.stringify(name)}:${show(value)}`]
  })
  return `{${members.join(',')}}`
}

/** Parses the totals of a block. Throws if they are malformed. */
export function readTotals(text: string): Record<string, Record<string, bigint>> {
  const currencies: Record<string, Record<string, string>> = JSON.parse(text)
  return Object.fromEntries(
    Object.entries(currencies).map(([currency, pots]) => [
      currency,
      Object.fromEntries(Object.entries(pots).map(([pot, amount]) => [pot, BigInt(amount)])),
    ]),
  )
}
