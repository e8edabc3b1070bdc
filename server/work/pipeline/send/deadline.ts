/**
 * The total time limit of a wire. Idle timeouts restart with each byte, so a vendor that sends a
 * byte now and then would otherwise keep a call, its hold and its memory for ever.
 */

/** The longest delay of a timer; a longer one would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1
/** Node keeps one list per duration, which costs more than a timer. */
const TIMER_STEP_MS = 100

/** Runs a timer only while something is watched, so that it needs no closing. */
export class Deadline {
  private endsAt: number
  private timer: NodeJS.Timeout | undefined
  private readonly watched = new Set<() => void>()

  constructor(totalMs: number) {
    this.endsAt = performance.now() + totalMs
  }

  /** Moves the end to `totalMs` from now, such as for a stream whose first event has come. */
  extend(totalMs: number): void {
    this.endsAt = performance.now() + totalMs
    if (this.timer) this.arm()
  }

  leftMs(): number {
    return Math.max(0, this.endsAt - performance.now())
  }

  isOver(): boolean {
    return this.leftMs() === 0
  }

  /** Calls `onOver` at the end, once, unless the returned function is called before. */
  watch(onOver: () => void): () => void {
    this.watched.add(onOver)
    if (!this.timer) this.arm()
    return () => {
      if (!this.watched.delete(onOver) || this.watched.size > 0) return
      clearTimeout(this.timer)
      this.timer = undefined
    }
  }

  private arm(): void {
    clearTimeout(this.timer)
    const stepMs = Math.max(1, Math.ceil(this.leftMs() / TIMER_STEP_MS)) * TIMER_STEP_MS
    this.timer = setTimeout(() => this.onTimer(), Math.min(stepMs, TIMER_MS_MAX)).unref()
  }

  private onTimer(): void {
    if (!this.isOver()) {
      this.arm()
      return
    }
    this.timer = undefined
    const watched = [...this.watched]
    this.watched.clear()
    for (const onOver of watched) onOver()
  }
}
