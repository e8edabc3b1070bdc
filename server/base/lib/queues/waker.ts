/** An interruptible sleep; a wake-up before the wait is not lost. */
export interface Waker {
  readonly wake: () => void
  /** Resolves after `ms`, or as soon as `wake` has been called since the last wait. */
  wait(ms: number): Promise<void>
}

export function createWaker(): Waker {
  let called = false
  let ring: (() => void) | undefined
  return {
    wake() {
      called = true
      ring?.()
    },
    async wait(ms) {
      if (!called) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          ring = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      ring = undefined
      called = false
    },
  }
}
