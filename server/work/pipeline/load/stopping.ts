/** Ends the waits of one call when the gateway stops. */
export class Stopping {
  private controller: AbortController | undefined
  private isOver = false

  /** Made on first use: most calls never wait, and a signal is costly. */
  signal(): AbortSignal {
    this.controller ??= new AbortController()
    if (this.isOver) this.controller.abort()
    return this.controller.signal
  }

  abort(): void {
    this.isOver = true
    this.controller?.abort()
  }
}
