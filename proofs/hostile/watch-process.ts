/**
 * Loaded into the gateway (`NODE_OPTIONS=--import=…`): appends to WATCH_FILE, four times a second,
 * how long its event loop was blocked, its memory and its processor time. Figures of its own do not
 * contain the waits of whoever sends the load.
 */
import { appendFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** One line of the file. */
export interface Sample {
  /** Milliseconds since 1970, at its end. */
  readonly at: number
  readonly loopMs: number
  readonly residentMb: number
  /** Parts of it: the engine's heap, and buffers outside. */
  readonly heapMb: number
  readonly buffersMb: number
  /** Processor time of all threads since the last sample. */
  readonly cpuMs: number
}

const MB = 1024 ** 2
const EVERY_MS = 250
const RESOLUTION_MS = 5
const { WATCH_FILE: file } = process.env

if (file !== undefined && process.argv.includes('serve')) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let before = process.cpuUsage()
  setInterval(() => {
    const used = process.cpuUsage(before)
    before = process.cpuUsage()
    const { rss, heapTotal, external } = process.memoryUsage()
    const sample: Sample = {
      at: Date.now(),
      loopMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
      residentMb: rss / MB,
      heapMb: heapTotal / MB,
      buffersMb: external / MB,
      cpuMs: (used.user + used.system) / 1000,
    }
    delay.reset()
    appendFileSync(file, `${JSON.stringify(sample)}\n`)
  }, EVERY_MS).unref()
}
