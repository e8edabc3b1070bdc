/**
 * Loaded into a process that is measured (`NODE_OPTIONS=--import=…`): SIGUSR2 makes it collect its
 * garbage several times, and write into LIVE_MEMORY_FILE the least that was in use right after a
 * collection. A process at work makes garbage all the time: what is read any later counts that.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: unknown = runInNewContext('gc')
const { LIVE_MEMORY_FILE: file } = process.env
const ROUNDS = 6
/** Buffers are given back some time after the collection that found them unused. */
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
  // Whole or not there: somebody waits for it.
  writeFileSync(`${file}.part`, String(least))
  renameSync(`${file}.part`, file)
})
