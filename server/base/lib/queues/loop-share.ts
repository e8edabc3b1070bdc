/**
 * Shares the event loop's time fairly among accounts. Large work takes milliseconds, in which
 * nothing else in the process runs. So while calls of several accounts run and most of the time is
 * used, the large bodies, answers and messages of one account get a quarter of the time, and those
 * of all accounts get half. Work beyond a share is not refused but waits. Small calls are neither
 * counted nor delayed.
 */
import { availableParallelism } from 'node:os'
import { performance } from 'node:perf_hooks'

/** A smaller body, answer or message is not counted. */
export const SHARED_BYTES = 64 * 1024

/** Time that must pass for each millisecond of an account's work. */
const SPACING = 4
/** The same, for each account that has used more than its share. */
const SPACING_OF_EACH = 2
/** Time that an account may use ahead of its share. */
const AHEAD_MS = 50
/** The longest time for which one piece of work can delay the next of its account. */
const BEHIND_MS_MAX = 20_000
const MB = 1024 * 1024
/**
 * The cost of copying from one socket to another or to a file, in the kernel and in other threads.
 */
const MS_PER_MB = 4
/** The same work divided among the cores: with few cores it delays the event loop itself. */
const MS_PER_MB_AND_CORE = 16
/** Calls of other accounts may end earlier than expected, which frees all of the time. */
const ASLEEP_MS_MAX = 100
/** The used part of the loop's time above which large work is spaced out. */
const BUSY = 0.6
/** Time over which the use of the loop is measured. */
const MEASURED_MS = 100
/** Accounts that have used no more than their share are forgotten above this number. */
const ACCOUNTS_KEPT = 1_000

interface Account {
  /** performance.now() from which its share is even again. */
  evenAt: number
  readonly waiting: (() => void)[]
}

export class LoopShare {
  private readonly isShared: () => boolean
  private readonly onBytes: (bytes: number) => void
  private readonly msPerByte: number
  private readonly accounts = new Map<string, Account>()
  private readonly measure: () => number
  private timer: NodeJS.Timeout | undefined
  private isServing = false
  private measuredAt = -Infinity
  private used = 0

  /**
   * `isShared` returns whether calls of several accounts run; `onBytes` learns what is counted;
   * `measure` returns the part of the loop's time that was used since it was last asked.
   */
  constructor(
    isShared: () => boolean,
    onBytes: (bytes: number) => void = () => undefined,
    measure: () => number = measureLoop(),
    cores = availableParallelism(),
  ) {
    this.isShared = isShared
    this.onBytes = onBytes
    this.measure = measure
    this.msPerByte = (MS_PER_MB + MS_PER_MB_AND_CORE / cores) / MB
  }

  /**
   * Resolves when large work of an account may begin. The work that is done before the next turn of
   * the event loop is counted; the work of others runs between any two pieces.
   */
  turn(id: string): Promise<void> {
    const { waiting } = this.accountOf(id)
    return new Promise((resolve) => {
      waiting.push(resolve)
      this.schedule()
    })
  }

  /** Counts work and copied bytes. Returns false if the account should wait for its turn. */
  count(id: string, bytes: number, tookMs = 0): boolean {
    const account = this.accountOf(id)
    this.charge(account, tookMs + bytes * this.msPerByte)
    this.onBytes(bytes)
    return this.waitOf(account) <= 0
  }

  /**
   * Counts nothing while an account is alone or there is time enough for all, so that no debt
   * builds up.
   */
  private charge(account: Account, tookMs: number): void {
    if (!this.isScarce()) return
    const now = performance.now()
    const spacing = Math.max(SPACING, SPACING_OF_EACH * this.countBehind(now))
    const evenAt = Math.max(account.evenAt, now) + tookMs * spacing
    account.evenAt = Math.min(evenAt, now + BEHIND_MS_MAX)
  }

  /** Returns the time until work of the account may begin. */
  private waitOf({ evenAt }: Account): number {
    return this.isScarce() ? evenAt - AHEAD_MS - performance.now() : 0
  }

  private isScarce(): boolean {
    if (!this.isShared()) return false
    const now = performance.now()
    if (now - this.measuredAt >= MEASURED_MS) {
      this.measuredAt = now
      this.used = this.measure()
    }
    return this.used >= BUSY
  }

  private countBehind(now: number): number {
    let count = 0
    for (const { evenAt } of this.accounts.values()) if (evenAt > now) count += 1
    return count
  }

  private accountOf(id: string): Account {
    let account = this.accounts.get(id)
    if (!account) {
      if (this.accounts.size >= ACCOUNTS_KEPT) this.forgetEven()
      account = { evenAt: 0, waiting: [] }
      this.accounts.set(id, account)
    }
    return account
  }

  private forgetEven(): void {
    const now = performance.now()
    for (const [id, { evenAt, waiting }] of this.accounts) {
      if (evenAt <= now && waiting.length === 0) this.accounts.delete(id)
    }
  }

  private schedule(): void {
    if (this.isServing) return
    const next = this.findNext()
    if (!next) return
    clearTimeout(this.timer)
    const waitMs = this.waitOf(next)
    if (waitMs > 0) {
      this.timer = setTimeout(() => this.schedule(), Math.min(Math.ceil(waitMs), ASLEEP_MS_MAX))
      return
    }
    this.isServing = true
    let startedAt = 0
    let served: Account | undefined
    // Between two callbacks of one phase, only what the first has resolved runs.
    setImmediate(() => {
      startedAt = performance.now()
      served = this.findNext()
      served?.waiting.shift()?.()
    })
    setImmediate(() => {
      if (served) this.charge(served, performance.now() - startedAt)
      this.isServing = false
      this.schedule()
    })
  }

  /** Returns the account that has used the least of those that wait. */
  private findNext(): Account | undefined {
    let next: Account | undefined
    for (const account of this.accounts.values()) {
      if (account.waiting.length === 0) continue
      if (!next || account.evenAt < next.evenAt) next = account
    }
    return next
  }
}

/** Returns a function that returns how much of the loop's time was used since its last call. */
function measureLoop(): () => number {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization
  }
}
