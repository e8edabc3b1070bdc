/**
 * The only way from this process to a server. Connections are opened one at a time, or a few at a
 * time if each takes long. While the server admits nobody, all attempts fail at once except one
 * that keeps trying: a server that recovers from a stall works off every attempt made meanwhile by
 * all gateways. An attempt that the network has lost is never answered, so another one starts
 * beside it every 3 s.
 */
import { readErrorCode } from '../unavailable.ts'
import type { DatabaseSession } from './session.ts'
import { waitSlices } from './slices.ts'

const TIMEOUT_MS_MIN = 2_000
const TIMEOUT_MS_MAX = 30_000
/** A server may take several times as long as last time. */
const TIMEOUT_FACTOR = 4
const BESIDE_MS = 3_000
/** Over a slow network, calls wait for round trips rather than for the server. */
const SLOW_MS = 500
const AT_ONCE_WHEN_SLOW = 3
const PAUSE_MS_MIN = 250
const PAUSE_MS_MAX = 2_000

/** Opens a session within this time. */
export type Open = (timeoutMs: number) => Promise<DatabaseSession>
/**
 * Opens a session within this time, unless `signal` aborts. Calls `onAdmitted` when the server has
 * begun to answer.
 */
export type OpenUnless = (
  timeoutMs: number,
  signal: AbortSignal,
  onAdmitted: () => void,
) => Promise<DatabaseSession>

export interface ConnectorEvents {
  /** Called when connections are refused from now on. */
  readonly onClosed: (error: unknown) => void
  /** Called when they are opened again. */
  readonly onOpened: () => void
}

export class Connector {
  private readonly queue: (() => void)[] = []
  private running = 0
  private lastTookMs = 0
  private lastOpenedAtMs = Number.NEGATIVE_INFINITY
  private closedBy: unknown
  private timeoutMs = TIMEOUT_MS_MIN
  private readonly events: ConnectorEvents

  constructor(events: ConnectorEvents) {
    this.events = events
  }

  /** Rejects immediately while the server accepts no connections. */
  async open(open: Open): Promise<DatabaseSession> {
    return await this.inTurn(async () => {
      if (this.closedBy !== undefined) throw this.closedBy
      return await this.attempt(open)
    })
  }

  /**
   * The attempt that finds out whether connections can be opened again: they can be as soon as the
   * server begins to answer it. Over a slow network its session takes three more round trips.
   */
  async probe(open: OpenUnless): Promise<DatabaseSession> {
    return await this.inTurn((endTurn) => {
      const onAdmitted = () => {
        if (!this.isClosed()) return
        endTurn()
        this.reopen()
      }
      return this.attempt((timeoutMs) => openBeside(open, timeoutMs, onAdmitted))
    })
  }

  /** Refuses connections until a probe succeeds. */
  close(error: unknown): void {
    const isNew = this.closedBy === undefined
    this.closedBy = error
    if (isNew) this.events.onClosed(error)
  }

  isClosed(): boolean {
    return this.closedBy !== undefined
  }

  /** Returns the number of connections that may be opened at the same time. */
  atOnce(): number {
    return this.lastTookMs > SLOW_MS && !this.isClosed() ? AT_ONCE_WHEN_SLOW : 1
  }

  /** `work` may end its turn before it is done. */
  private async inTurn(
    work: (endTurn: () => void) => Promise<DatabaseSession>,
  ): Promise<DatabaseSession> {
    const turn = Promise.withResolvers<void>()
    this.queue.push(turn.resolve)
    this.startNext()
    await turn.promise
    let isOver = false
    const endTurn = () => {
      if (!isOver) this.running -= 1
      isOver = true
      this.startNext()
    }
    try {
      return await work(endTurn)
    } finally {
      endTurn()
    }
  }

  private reopen(): void {
    this.closedBy = undefined
    this.events.onOpened()
  }

  private startNext(): void {
    while (this.running < this.atOnce()) {
      const start = this.queue.shift()
      if (!start) return
      this.running += 1
      start()
    }
  }

  private async attempt(open: Open): Promise<DatabaseSession> {
    const startMs = performance.now()
    const { timeoutMs } = this
    try {
      const session = await open(timeoutMs)
      this.lastOpenedAtMs = performance.now()
      this.lastTookMs = this.lastOpenedAtMs - startMs
      this.timeoutMs = clamp(this.lastTookMs * TIMEOUT_FACTOR, TIMEOUT_MS_MIN, TIMEOUT_MS_MAX)
      if (this.isClosed()) this.reopen()
      return session
    } catch (error) {
      if (readErrorCode(error) === 'CONNECT_TIMEOUT') {
        // Concurrent attempts count once.
        this.timeoutMs = Math.min(Math.max(this.timeoutMs, timeoutMs * 2), TIMEOUT_MS_MAX)
      }
      // A concurrent attempt may have succeeded since.
      if (this.lastOpenedAtMs < startMs) this.close(error)
      throw error
    }
  }
}

/**
 * Resolves with the first session. Rejects with the first error, and then opens no other. Once the
 * server has begun to answer one attempt, earlier errors of others do not count.
 */
async function openBeside(
  open: OpenUnless,
  timeoutMs: number,
  onAdmitted: () => void,
): Promise<DatabaseSession> {
  const isOver = new AbortController()
  const first = Promise.withResolvers<DatabaseSession>()
  let isAdmitted = false
  let running = 0

  function admit(): void {
    isAdmitted = true
    onAdmitted()
  }

  function take(session: DatabaseSession): void {
    if (isOver.signal.aborted) return void session.close(0)
    isOver.abort()
    first.resolve(session)
  }

  function fail(error: unknown): void {
    running -= 1
    if (isAdmitted && running > 0) return
    isOver.abort()
    first.reject(error)
  }

  function start(remainingMs: number): void {
    running += 1
    void open(remainingMs, isOver.signal, admit).then(take, fail)
  }

  async function startOthers(): Promise<void> {
    for (let remainingMs = timeoutMs - BESIDE_MS; remainingMs > 0; remainingMs -= BESIDE_MS) {
      await waitSlices(BESIDE_MS, isOver.signal)
      if (isOver.signal.aborted || isAdmitted) return
      start(remainingMs)
    }
  }

  start(timeoutMs)
  void startOthers()
  return await first.promise
}

/** Returns how long to wait after this number of failures: exponential backoff with jitter. */
export function choosePauseMs(failures: number): number {
  return Math.random() * Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** failures)
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}
