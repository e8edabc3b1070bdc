/**
 * The database's clock without asking it: what it said at the last looks, carried on by our own
 * monotonic clock. It is never behind the database's, and ahead by no more than the fastest of the
 * last looks took, so that what begins at a moment has begun here when it has begun there.
 */

/** An older look is not believed over a slower, newer one: clocks drift. */
const KEPT_MS = 60_000

export interface CatalogClock {
  /** Milliseconds since 1970. */
  now(): number
  /** Asks, and learns from how long the answer took. */
  watch<Answer extends { readonly at: Date }>(ask: () => Promise<Answer>): Promise<Answer>
}

interface Look {
  /** What our clock has to be moved by: at least, and at most. */
  readonly leastMs: number
  readonly mostMs: number
  readonly atMs: number
}

/** `monotonic` tells milliseconds since any moment. Asked before its first look, it throws. */
export function createCatalogClock(monotonic: () => number = () => performance.now()) {
  let kept: Look | undefined

  /** PostgreSQL counts microseconds and a Date drops them. */
  const read = (at: Date, sentMs: number, receivedMs: number): Look => ({
    leastMs: at.getTime() - receivedMs,
    mostMs: at.getTime() + 1 - sentMs,
    atMs: receivedMs,
  })

  const clock: CatalogClock = {
    now() {
      if (!kept) throw new Error('the database was not asked for its time yet')
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
