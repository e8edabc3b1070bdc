/**
 * A `fetch` for one server that may accept connections without ever answering. If a request gets no
 * answer for some seconds, one probe is sent, so that a slow upload is not mistaken for a failure.
 * If the probe is not answered either, the server is considered away: waiting requests are aborted,
 * and further ones fail at once until a probe succeeds.
 */
import { Readable } from 'node:stream'
import { withinTime } from '../lib/queues/within-time.ts'

export interface WatchTimes {
  /** A request that waits this long causes a probe. */
  readonly patienceMs: number
  /** A probe that is not answered within this time has failed. */
  readonly probeMs: number
  /** The first and the longest wait between two probes of a server that is away. */
  readonly retryMsMin: number
  readonly retryMsMax: number
}

/** Together under ten seconds. */
const WATCH_TIMES: WatchTimes = {
  patienceMs: 4_000,
  probeMs: 4_000,
  retryMsMin: 1_000,
  retryMsMax: 15_000,
}

/** The server is known to be away: nothing was sent, or it was given up. */
export class ServerAway extends Error {}

export interface WatchedFetch {
  readonly fetch: typeof fetch
  /** Throws ServerAway while the server is away. */
  check(): void
  /** Ends the probes; for tests and commands that end. */
  stop(): void
}

/**
 * `probe` sends a request with the `fetch` that it is given; any answer counts as a success.
 * `onChange` is called with false when the server goes away, and with true when it is back.
 */
export function watchFetch(
  probe: (fetch: typeof globalThis.fetch) => Promise<unknown>,
  onChange: (isThere: boolean) => void,
  times: WatchTimes = WATCH_TIMES,
): WatchedFetch {
  const waiting = new Set<AbortController>()
  let isAway = false
  let probing: Promise<boolean> | undefined
  /** The reason of the last failed probe. */
  let cause: unknown
  let timer: NodeJS.Timeout | undefined

  /** Resolves with whether the server answers; concurrent callers share one probe. */
  function ask(): Promise<boolean> {
    probing ??= probeOnce(probe, times.probeMs, (error) => {
      cause = error
    }).finally(() => {
      probing = undefined
    })
    return probing
  }

  async function suspect(): Promise<void> {
    if (isAway || (await ask()) || isAway) return
    isAway = true
    onChange(false)
    for (const one of waiting) one.abort(new ServerAway('the server does not answer', { cause }))
    probeLater(times.retryMsMin)
  }

  function probeLater(waitMs: number): void {
    timer = setTimeout(
      () => {
        void ask().then((isThere) => {
          if (!isThere) return probeLater(Math.min(2 * waitMs, times.retryMsMax))
          isAway = false
          onChange(true)
        })
      },
      waitMs * (0.5 + Math.random() / 2),
    )
    timer.unref()
  }

  function check(): void {
    if (isAway) throw new ServerAway('the server does not answer', { cause })
  }

  return {
    check,
    stop: () => clearTimeout(timer),
    async fetch(input, init) {
      check()
      const one = new AbortController()
      waiting.add(one)
      const patience = setInterval(() => void suspect(), times.patienceMs)
      try {
        return await fetchBounded(input, init, one.signal)
      } catch (error) {
        if (one.signal.aborted) throw one.signal.reason
        // A refused or reset connection: the next caller need not find out again.
        void suspect()
        throw error
      } finally {
        clearInterval(patience)
        waiting.delete(one)
      }
    },
  }
}

async function probeOnce(
  probe: (fetch: typeof globalThis.fetch) => Promise<unknown>,
  probeMs: number,
  onFailure: (error: unknown) => void,
): Promise<boolean> {
  let isAnswered = false
  const ask: typeof fetch = async (input, init) => {
    const late = new AbortController()
    try {
      const answering = fetchBounded(input, init, late.signal)
      const giveUp = () => new Error(`no answer in ${probeMs} ms`)
      const answer = await withinTime(answering, probeMs, giveUp)
      isAnswered = true
      return answer
    } catch (error) {
      late.abort()
      onFailure(error)
      throw error
    }
  }
  // Also a refusal is an answer.
  await probe(ask).catch(() => undefined)
  return isAnswered
}

/**
 * Returns the body that a server sends; it fails with ServerAway if nothing arrives for this long.
 * Destroying it releases the connection at once, even before it is read: a generator that has not
 * started never runs its cleanup.
 */
export function openWatched(body: ReadableStream<Uint8Array>, idleMs: number): Readable {
  const readable = Readable.from(readWatched(body, idleMs), { objectMode: false })
  // A body that is being read is locked, and the generator cancels it.
  return readable.once('close', () => void body.cancel().catch(() => undefined))
}

async function* readWatched(
  body: ReadableStream<Uint8Array>,
  idleMs: number,
): AsyncGenerator<Buffer> {
  const reader = body.getReader()
  try {
    for (;;) {
      const stopped = () => new ServerAway('the server stopped in the middle')
      const { done, value } = await withinTime(reader.read(), idleMs, stopped)
      if (done) return
      yield Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** For the request body and the response head together. */
const ANSWER_MS = 60_000

/**
 * Calls `fetch` with a time limit, and until `stop` aborts; the response body has the runtime's own
 * idle limit. Rejects on redirects.
 */
async function fetchBounded(
  input: Parameters<typeof fetch>[0],
  init?: RequestInit,
  stop?: AbortSignal,
): Promise<Response> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), ANSWER_MS)
  try {
    const signal = stop ? AbortSignal.any([late.signal, stop]) : late.signal
    return await fetch(input, { ...init, redirect: 'error', signal })
  } finally {
    clearTimeout(timer)
  }
}
