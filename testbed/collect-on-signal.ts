/**
 * Loaded into a process that is measured (`NODE_OPTIONS=--import=…`). On SIGUSR2 it collects
 * garbage several times and writes the lowest memory use right after a collection to
 * LIVE_MEMORY_FILE. A later reading would include new garbage.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: unknown = runInNewContext('gc')
const { LIVE_MEMORY_FILE: file } = process.env
const ROUNDS = 6
/** Buffers are freed some time after the collection that found them unused. */
const BETWEEN_MS = 150

process.on('SIGUSR2', async () => {
  if (typeof collect !== 'function' || file === undefined) return
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round += 1) {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    least = Math.min(least, heapUsed + external)
    await sleep(BETWEEN_MS)
  }
  // Renamed into place, so that a waiting reader never sees part of it.
  writeFileSync(`${file}.part`, String(least))
  renameSync(`${file}.part`, file)
})
