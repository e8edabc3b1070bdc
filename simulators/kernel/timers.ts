// Timers that neither keep the process alive nor outlive the simulators. They share one set: ten
// thousand tasks must not add ten thousand listeners to one signal.

/** The longest delay of the platform's timers, 24 days. */
const LONGEST_MS = 2 ** 31 - 1

export class Timers {
  private readonly running = new Set<NodeJS.Timeout>()
  private stopped = false

  /** Runs `work` after real milliseconds; never if the delay exceeds the longest one. */
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
