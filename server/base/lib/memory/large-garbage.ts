/**
 * Collects the garbage of large bodies, answers and messages before there is much of it. Their
 * buffers lie outside the engine's heap. Most are garbage while they are young, and a collection of
 * young objects frees them within milliseconds. Buffers that have waited for memory, for a vendor
 * or for a caller are old by then, and only a collection of the whole heap frees them: the engine
 * starts one after 64 MB of further buffers, and has finished it only when several times as many
 * have come.
 */
import { getHeapStatistics } from 'node:v8'
import { openPageRelease } from './release-pages.ts'

const MB = 1024 * 1024
/** Bytes between two collections: a quarter of what the engine waits for. */
const COLLECTED_BYTES = 16 * MB
/** Buffers beyond those in use from which the whole heap is collected. */
const GARBAGE_BYTES_MAX = 64 * MB
const FREED_MS = 25
/** Time between two returns of freed pages, which would be faulted in again at once. */
const RELEASED_MS = 5_000

/** The functions of the engine that this file needs. */
export interface HeapCollector {
  collect(type: 'minor' | 'major'): void
  /** Returns the bytes of buffers outside the heap, garbage included. */
  bufferBytes(): number
  /** Returns the pages of freed buffers to the system. */
  release(): void
}

const COLLECTOR: HeapCollector = {
  /** Does nothing in a process without `globalThis.gc`, which `serve` sets. */
  collect: (type) => void globalThis.gc?.({ type }),
  bufferBytes: () => getHeapStatistics().external_memory,
  release: openPageRelease(),
}

export class LargeGarbage {
  private readonly usedBytes: () => number
  private readonly collector: HeapCollector
  private bytes = 0
  private check: NodeJS.Timeout | undefined
  private release: NodeJS.Timeout | undefined
  /** Buffers beyond those in use that the last collection of the whole heap has left. */
  private leftBytes = 0

  /** `usedBytes` returns the bytes of buffers that are in use, by what counts them. */
  constructor(usedBytes: () => number, collector: HeapCollector = COLLECTOR) {
    this.usedBytes = usedBytes
    this.collector = collector
  }

  /** Counts bytes that were read into memory, and are garbage soon. */
  add(bytes: number): void {
    const before = this.bytes
    this.bytes += bytes
    if (before >= COLLECTED_BYTES || this.bytes < COLLECTED_BYTES) return
    // Whoever counts these bytes is still using the last of them.
    setImmediate(() => {
      this.bytes = 0
      this.collector.collect('minor')
      this.check ??= soon(() => {
        this.check = undefined
        this.collectOld()
      })
      this.release ??= setTimeout(() => {
        this.release = undefined
        this.collector.release()
      }, RELEASED_MS).unref()
    })
  }

  /**
   * Makes room for bytes that are about to be read, and count as in use already: requests that have
   * waited for memory start the moment the memory of others becomes garbage.
   */
  prepare(bytes: number): void {
    if (bytes >= COLLECTED_BYTES) this.collectOld(bytes)
  }

  /** `missing` is what counts as in use but is not allocated yet. */
  private collectOld(missing = 0): void {
    const uncounted = this.uncountedBytes(missing)
    this.leftBytes = Math.min(this.leftBytes, uncounted)
    if (uncounted - this.leftBytes <= GARBAGE_BYTES_MAX) return
    this.collector.collect('major')
    clearTimeout(this.check)
    this.check = soon(() => {
      this.check = undefined
      this.leftBytes = this.uncountedBytes()
    })
  }

  /** Garbage, and what is in use but not counted, such as small bodies. */
  private uncountedBytes(missing = 0): number {
    return Math.max(0, this.collector.bufferBytes() + missing - this.usedBytes())
  }
}

/** Another thread frees what a collection has found, and its bytes count until then. */
function soon(work: () => void): NodeJS.Timeout {
  return setTimeout(work, FREED_MS).unref()
}
