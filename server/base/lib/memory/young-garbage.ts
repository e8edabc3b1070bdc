/**
 * Collects the garbage of large bodies, answers and messages before there is much of it. Their
 * buffers lie outside the engine's heap: at 64 MB of them it collects the whole heap, which costs
 * more than a hundred small calls. Those that are still young are freed by a collection of young
 * objects, within milliseconds.
 */

/** Bytes between two collections: a quarter of what the engine waits for. */
const COLLECTED_BYTES = 16 * 1024 * 1024

export class YoungGarbage {
  private readonly collect: () => void
  private bytes = 0

  constructor(collect: () => void = collectYoung) {
    this.collect = collect
  }

  /** Counts bytes that were read into memory, and are garbage soon. */
  add(bytes: number): void {
    const before = this.bytes
    this.bytes += bytes
    if (before >= COLLECTED_BYTES || this.bytes < COLLECTED_BYTES) return
    // Whoever counts them is still using the last ones.
    setImmediate(() => {
      this.bytes = 0
      this.collect()
    })
  }
}

/** Does nothing in a process without the flag `--expose-gc`. */
function collectYoung(): void {
  globalThis.gc?.({ type: 'minor' })
}
