/**
 * The sessions of one client. They are opened one after another as statements need them, and given
 * back when they are idle; a statement waits for the first that is free, and those of background
 * work let others go first. The client's own pool would open one for each waiting statement, all at
 * once, and bind the statement to its success.
 */
import type { Work } from './begin.ts'
import type { ClientQuery, DatabaseSession } from './session.ts'

/**
 * If a session takes longer to open, statements do not wait for it: a few are sent on sessions that
 * are in use.
 */
const OPENING_MS = 100
const FOLLOWING_MEANWHILE = 3
/** Over a slow network they share its round trips. */
const FOLLOWING_WHEN_SLOW = 10
/** The same limit if no session will be added. */
const FOLLOWING_MAX = 100
const IDLE_MS = 60_000
const KEPT = 2
const TICK_MS = 1_000
/**
 * After a session could not be opened, sessions are added again after a random part of this time.
 */
const WAIT_MS_MAX = 5_000
/** The limit for clients that set none. */
const END_SECONDS = 60
/** Background work gives way to calls that arrive within this time after it. */
const YIELDING_MS = 1_000

export interface PoolOptions {
  readonly size: number
  /** Opens a session; `onLost` is called when it is lost, `signal` aborts when it is not wanted. */
  readonly open: (
    signal: AbortSignal,
    onLost: (session: DatabaseSession) => void,
  ) => Promise<DatabaseSession>
  /** Returns the number of sessions that may be opened at the same time; by default one. */
  readonly atOnce?: () => number
}

interface Waiting {
  /** The position in the queue: the time of arrival, plus a while for background work. */
  readonly turnMs: number
  readonly isTransaction: boolean
  readonly start: (session: DatabaseSession) => void
  readonly reject: (error: unknown) => void
}

export class Pool {
  private readonly options: PoolOptions
  private readonly sessions: DatabaseSession[] = []
  private waiting: Waiting[] = []
  /** Background work that waits, oldest first. */
  private yielding: Waiting[] = []
  private opening = 0
  private isSlow = false
  private waitsUntilMs = 0
  /** True if statements have been rejected since there last was a session. */
  private hasRejected = false
  private isEnded = false
  private readonly ending = new AbortController()
  private onEmpty: (() => void) | undefined
  private timer: NodeJS.Timeout | undefined

  constructor(options: PoolOptions) {
    this.options = options
  }

  /** Sends a statement, or rejects it if no session can be had. */
  readonly run = (statement: ClientQuery): void => this.addStatement(statement, false)

  /** Like `run`, but gives way to the statements of calls. */
  readonly runInBackground = (statement: ClientQuery): void => this.addStatement(statement, true)

  begin(mode: string, work: Work, isBackground = false): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const start = (session: DatabaseSession) => resolve(session.begin(mode, work, this.assign))
      this.add({ isTransaction: true, start, reject }, isBackground)
    })
  }

  /** Drops the sessions with everything that they run, and rejects waiting statements. */
  drop(error: unknown): void {
    for (const session of this.sessions.splice(0)) void session.close(0)
    this.rejectAll(error)
  }

  /** Rejects waiting statements, unless a session other than the refused one may become free. */
  refuse(error: unknown): void {
    if (this.sessions.length === 0 && this.opening <= 1) this.rejectAll(error)
  }

  /**
   * Opens sessions after statements were rejected for lack of one, since more may arrive at any
   * moment.
   */
  welcome(): void {
    if (!this.hasRejected || this.sessions.length > 0 || this.isEnded) return
    this.hasRejected = false
    this.waitsUntilMs = 0
    while (this.opening < Math.min(KEPT, this.options.size)) this.openOne()
  }

  /** Statements that wait or run have `graceSeconds` to end. */
  async end(graceSeconds = END_SECONDS): Promise<void> {
    this.isEnded = true
    if (this.countWaiting() > 0 && graceSeconds > 0) {
      const isDone = Promise.withResolvers<void>()
      this.onEmpty = isDone.resolve
      const timer = setTimeout(isDone.resolve, graceSeconds * 1_000)
      await isDone.promise
      clearTimeout(timer)
    }
    clearInterval(this.timer)
    this.ending.abort()
    this.rejectAll(new PoolEnded())
    await Promise.all(this.sessions.splice(0).map((session) => session.close(graceSeconds)))
  }

  private addStatement(statement: ClientQuery, isBackground: boolean): void {
    const start = (session: DatabaseSession) => session.run(statement, this.assign)
    this.add({ isTransaction: false, start, reject: statement.reject }, isBackground)
  }

  private add(work: Omit<Waiting, 'turnMs'>, isBackground: boolean): void {
    if (this.isEnded) {
      work.reject(new PoolEnded())
      return
    }
    const nowMs = performance.now()
    if (isBackground) this.yielding.push({ ...work, turnMs: nowMs + YIELDING_MS })
    else this.waiting.push({ ...work, turnMs: nowMs })
    this.assign()
  }

  private countWaiting(): number {
    return this.waiting.length + this.yielding.length
  }

  /** Starts the statements that can be started, and opens a session for the rest. */
  private readonly assign = (): void => {
    for (let queue = this.nextQueue(); queue[0]; queue = this.nextQueue()) {
      const session = this.choose(queue[0])
      if (!session) break
      queue.shift()?.start(session)
    }
    if (this.countWaiting() > 0) this.grow()
    else this.onEmpty?.()
  }

  private nextQueue(): Waiting[] {
    const [call] = this.waiting
    const [background] = this.yielding
    if (!background) return this.waiting
    return call && call.turnMs <= background.turnMs ? this.waiting : this.yielding
  }

  /** Returns a free session, or one whose statements another may follow. */
  private choose({ isTransaction }: Waiting): DatabaseSession | undefined {
    const most = this.countFollowing(isTransaction)
    let least: DatabaseSession | undefined
    for (const session of this.sessions) {
      if (session.load === 0) return session
      if (session.load > most) continue
      if (!least || session.load < least.load) least = session
    }
    return least
  }

  /** Returns how many statements may follow another before it is answered. */
  private countFollowing(isTransaction: boolean): number {
    if (isTransaction) return 0
    if (!this.mayGrow()) return FOLLOWING_MAX
    if (this.countAtOnce() > 1) return FOLLOWING_WHEN_SLOW
    return this.isSlow ? FOLLOWING_MEANWHILE : 0
  }

  private mayGrow(): boolean {
    return this.sessions.length < this.options.size && performance.now() >= this.waitsUntilMs
  }

  /** Opens sessions for waiting statements, as many as may be opened at the same time. */
  private grow(): void {
    const most = Math.min(this.countWaiting(), this.countAtOnce())
    while (this.opening < most && this.mayOpen()) this.openOne()
  }

  private countAtOnce(): number {
    return this.options.atOnce?.() ?? 1
  }

  private mayOpen(): boolean {
    const count = this.sessions.length + this.opening
    return count === 0 || (this.mayGrow() && count < this.options.size)
  }

  private openOne(): void {
    this.opening += 1
    const timer = setTimeout(() => {
      this.isSlow = true
      this.assign()
    }, OPENING_MS)
    this.options
      .open(this.ending.signal, (session) => this.lose(session))
      .then(this.take, this.wait)
      .finally(() => {
        clearTimeout(timer)
        this.opening -= 1
        if (this.opening === 0) this.isSlow = false
        this.assign()
      })
  }

  private readonly take = (session: DatabaseSession): void => {
    if (this.ending.signal.aborted) return void session.close(0)
    if (this.sessions.length === 0) this.letCallsGoFirst()
    this.sessions.push(session)
    this.hasRejected = false
    this.timer ??= setInterval(this.tick, TICK_MS).unref()
  }

  /** Puts calls before background work that has waited while there was no session. */
  private letCallsGoFirst(): void {
    const soonestMs = performance.now() + YIELDING_MS
    this.yielding = this.yielding.map((one) => {
      return { ...one, turnMs: Math.max(one.turnMs, soonestMs) }
    })
  }

  /** No session could be added, so statements share the existing ones. */
  private readonly wait = (error: unknown): void => {
    this.waitsUntilMs = performance.now() + Math.random() * WAIT_MS_MAX
    this.refuse(error)
  }

  private lose(session: DatabaseSession): void {
    this.remove(session)
    this.assign()
  }

  private remove(session: DatabaseSession): void {
    const index = this.sessions.indexOf(session)
    if (index >= 0) this.sessions.splice(index, 1)
  }

  private readonly tick = (): void => {
    for (const session of [...this.sessions]) {
      const isSpare = this.sessions.length > KEPT && session.isIdleFor(IDLE_MS)
      if (!isSpare && !session.isOverdue()) continue
      this.remove(session)
      void session.close(0)
    }
    this.assign()
  }

  private rejectAll(error: unknown): void {
    const waiting = [...this.waiting, ...this.yielding]
    this.waiting = []
    this.yielding = []
    if (waiting.length > 0) this.hasRejected = true
    for (const { reject } of waiting) reject(error)
  }
}

class PoolEnded extends Error {
  readonly code = 'CONNECTION_ENDED'

  constructor() {
    super('CONNECTION_ENDED: the database client has ended')
  }
}
