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
  /** Runs `ask` and takes a sample from its answer and duration. */
  watch<Answer extends { readonly at: Date }>(ask: () => Promise<Answer>): Promise<Answer>
}

interface Look {
  /** The least and greatest possible offset from the local clock to the database's. */
  readonly leastMs: number
  readonly mostMs: number
  readonly atMs: number
}

/** `monotonic` returns milliseconds since an arbitrary origin. */
export function createCatalogClock(monotonic: () => number = () => performance.now()) {
  let kept: Look | undefined

  /** Adds 1 ms to the upper bound: PostgreSQL has microseconds, which a Date drops. */
  const read = (at: Date, sentMs: number, receivedMs: number): Look => ({
    leastMs: at.getTime() - receivedMs,
    mostMs: at.getTime() + 1 - sentMs,
    atMs: receivedMs,
  })

  const clock: CatalogClock = {
    now() {
      if (!kept) throw new Error('the database clock has not been read yet')
      return monotonic() + kept.mostMs
    },
    async watch(ask) {
      const sentMs = monotonic()
      const answer = await ask()
      const look = read(answer.at, sentMs, monotonic())
      if (!kept || isBetter(look, kept)) kept = look
      return answer
    },
  }
  return clock
}

function isBetter(look: Look, kept: Look): boolean {
  const isStepped = look.leastMs > kept.mostMs || look.mostMs < kept.leastMs
  const isSharper = look.mostMs - look.leastMs <= kept.mostMs - kept.leastMs
  return isStepped || isSharper || look.atMs - kept.atMs > KEPT_MS
}
