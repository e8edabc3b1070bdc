/**
 * Loaded into a gateway that is measured (`NODE_OPTIONS=--import=…`): SIGUSR2 makes it collect its
 * garbage, so that what is left is in use.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: unknown = runInNewContext('gc')
/** Buffers are given back after the collection that found them unused: so once more. */
const AGAIN_MS = 150

process.on('SIGUSR2', () => {
  if (typeof collect !== 'function') return
  collect()
  setTimeout(() => collect(), AGAIN_MS)
})
