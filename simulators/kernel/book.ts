// The vendor's bills, recorded independently of the gateway. An entry is added when the real vendor
// would bill, and never changed afterwards.

export type Units = Record<string, number>

export interface BookEntry {
  sequence: number
  vendor: string
  operation: string
  request_id: string
  model: string
  units: Units
  billed: boolean
  at: number
  status: number
  /** The reason why nothing, or less than everything, was billed. */
  reason?: string
  /** From `[[call:ID]]` in the caller's text. */
  marker?: string
  /** A request id from the caller's header. */
  client_request_id?: string
  /** The usage on the wire, which a fault may have changed. */
  reported?: unknown
}

export interface BookTotal {
  vendor: string
  operation: string
  model: string
  billed: number
  refused: number
  units: Units
}

export interface BookQuery {
  since?: number | undefined
  marker?: string | undefined
  vendor?: string | undefined
  operation?: string | undefined
}

export class Book {
  private lines: BookEntry[] = []
  private sums = new Map<string, BookTotal>()
  private sequence = 0
  private generating = 0
  private waiting: (() => void)[] = []
  private readonly totalsOnly: boolean

  constructor(options: { totalsOnly: boolean }) {
    this.totalsOnly = options.totalsOnly
  }

  /** The number of generations that have begun and are not yet in the book. */
  get open(): number {
    return this.generating
  }

  begin(): void {
    this.generating += 1
  }

  end(): void {
    this.generating -= 1
    if (this.generating > 0) return
    for (const wake of this.waiting.splice(0)) wake()
  }

  /** Resolves when no generation is in progress. */
  async settled(): Promise<void> {
    while (this.generating > 0) await new Promise<void>((resolve) => this.waiting.push(resolve))
  }

  write(entry: Omit<BookEntry, 'sequence' | 'at'>): void {
    this.sequence += 1
    this.sum(entry)
    if (!this.totalsOnly) {
      this.lines.push({ sequence: this.sequence, at: Date.now(), ...entry })
    }
  }

  entries(query: BookQuery = {}): BookEntry[] {
    return this.lines.filter(
      (entry) =>
        (query.since === undefined || entry.sequence > query.since) &&
        (query.marker === undefined || entry.marker === query.marker) &&
        (query.vendor === undefined || entry.vendor === query.vendor) &&
        (query.operation === undefined || entry.operation === query.operation),
    )
  }

  totals(): BookTotal[] {
    return [...this.sums.values()]
  }

  clear(): void {
    this.lines = []
    this.sums.clear()
  }

  private sum(entry: Omit<BookEntry, 'sequence' | 'at'>): void {
    const key = `${entry.vendor} ${entry.operation} ${entry.model}`
    let total = this.sums.get(key)
    if (!total) {
      const { vendor, operation, model } = entry
      total = { vendor, operation, model, billed: 0, refused: 0, units: {} }
      this.sums.set(key, total)
    }
    if (!entry.billed) {
      total.refused += 1
      return
    }
    total.billed += 1
    for (const unit in entry.units) {
      total.units[unit] = (total.units[unit] ?? 0) + (entry.units[unit] ?? 0)
    }
  }
}
