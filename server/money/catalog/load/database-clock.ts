/**
 * Estimates the database's clock without a query, from the latest samples and the local monotonic
 * clock. The estimate is never behind the database's clock, and ahead by no more than the duration
 * of the fastest recent query, so that prices in effect there are in effect here.
 */

/** After this time a newer sample replaces a more precise one, since clocks drift. */
const KEPT_MS = 60_000

export interface CatalogClock {
  /** Returns milliseconds since 1970. Throws before the first sample. */
  now(): number
  /** Runs a query and takes a sample from its answer and duration. */
  sample<Answer extends { readonly at: Date }>(query: () => Promise<Answer>): Promise<Answer>
}

interface Sample {
  /** The least and greatest possible offset from the local clock to the database's. */
  readonly minMs: number
  readonly maxMs: number
  readonly atMs: number
}

/** `monotonic` returns milliseconds since an arbitrary origin. */
export function createCatalogClock(monotonic: () => number = () => performance.now()) {
  let best: Sample | undefined

  /** Adds 1 ms to the upper bound: PostgreSQL has microseconds, which a Date drops. */
  const measure = (at: Date, sentMs: number, receivedMs: number): Sample => ({
    minMs: at.getTime() - receivedMs,
    maxMs: at.getTime() + 1 - sentMs,
    atMs: receivedMs,
  })

  const clock: CatalogClock = {
    now() {
      if (!best) throw new Error('the database clock has not been read yet')
      return monotonic() + best.maxMs
    },
    async sample(query) {
      const sentMs = monotonic()
      const answer = await query()
      const sample = measure(answer.at, sentMs, monotonic())
      if (!best || isBetter(sample, best)) best = sample
      return answer
    },
  }
  return clock
}

/** Returns true if the clock was set, if the sample is more precise, or if the other is old. */
function isBetter(sample: Sample, other: Sample): boolean {
  const isStepped = sample.minMs > other.maxMs || sample.maxMs < other.minMs
  const isSharper = sample.maxMs - sample.minMs <= other.maxMs - other.minMs
  return isStepped || isSharper || sample.atMs - other.atMs > KEPT_MS
}
