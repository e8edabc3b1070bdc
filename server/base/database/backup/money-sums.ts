/** Sums the money columns of a backup's rows, for comparison with the same sums from PostgreSQL. */

/** Columns of nano-units, by table. */
const MONEY_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  archived_key: ['charged', 'limited'],
  archived_sum: ['amount'],
  balance: ['available', 'held', 'debt'],
  call: ['held', 'charged', 'returned', 'debt'],
  credit: ['amount'],
  entry: ['amount'],
  hold: ['amount'],
  key_spend: ['held', 'spent'],
}

export interface MoneySum {
  readonly table: string
  readonly column: string
  /** Null if the table has no currency column. */
  readonly currency: string | null
  readonly nanos: bigint
}

export interface SumMeter {
  add(fields: readonly (string | null)[]): void
  read(): MoneySum[]
}

/** Returns the money columns of `table` among `columns`. */
export function findMoneyColumns(table: string, columns: readonly string[]): readonly string[] {
  return (MONEY_COLUMNS[table] ?? []).filter((column) => columns.includes(column))
}

/** Sums the money columns of rows whose fields are in the order of `columns`. */
export function createSumMeter(table: string, columns: readonly string[]): SumMeter {
  const money = findMoneyColumns(table, columns)
  const places = money.map((column) => columns.indexOf(column))
  const currencyPlace = columns.indexOf('currency')
  const sums = new Map<string | null, bigint[]>()
  return {
    add(fields) {
      if (money.length === 0) return
      const currency = fields[currencyPlace] ?? null
      const sum = sums.get(currency) ?? money.map(() => 0n)
      for (const [index, place] of places.entries()) {
        sum[index] = (sum[index] ?? 0n) + BigInt(fields[place] ?? 0)
      }
      sums.set(currency, sum)
    },
    read: () =>
      [...sums].flatMap(([currency, sum]) =>
        money.map((column, index) => ({ table, column, currency, nanos: sum[index] ?? 0n })),
      ),
  }
}
