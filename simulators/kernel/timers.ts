// Timers that neither keep the process alive nor outlive the simulators. One set for all: ten
// thousand tasks must not mean ten thousand listeners on one signal.

/** The longest that a timer of the platform can wait; 24 days. */
const LONGEST_MS = 2 ** 31 - 1

export class Timers {
  private readonly running = new Set<NodeJS.Timeout>()
  private stopped = false

  /** Runs `work` after real milliseconds; never, when that is too far away to be waited for. */
  after(ms: number, work: () => void): void {
    if (this.stopped || !(ms <= LONGEST_MS)) return
    const timer = setTimeout(() => {
      this.running.delete(timer)
      work()
    }, ms)
    timer.unref()
    this.running.add(timer)
  }

  stop(): void {
    this.stopped = true
    for (const timer of this.running) clearTimeout(timer)
    this.running.clear()
  }
}
