/** Prepares the engine and the C library before any other code runs. */
import { executionAsyncResource } from 'node:async_hooks'
import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Helper threads of the engine; more of them than free cores would delay everything else. */
const HELPERS_MAX = 4

/** The reasons are in docs/decisions/2026-11-23-memory-for-short-lived-objects.md. */
export const ENGINE_FLAGS = [
  '--min-semi-space-size=16',
  '--max-semi-space-size=48',
  `--v8-pool-size=${Math.min(HELPERS_MAX, Math.max(1, availableParallelism() - 1))}`,
]

/**
 * glibc returns freed buffers of at least this size to the system at once. By default it raises
 * this size up to 32 MB as buffers are freed, keeps memory between smaller buffers that are in use,
 * and does so separately for each of many threads.
 */
export const ENGINE_ENVIRONMENT = {
  MALLOC_MMAP_THRESHOLD_: String(128 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(16 * 1024 * 1024),
  MALLOC_ARENA_MAX: '2',
}

/**
 * Replaces this process by one with the flags and the environment, under the same id, unless they
 * were present. What the operator has set, on the command line, in NODE_OPTIONS or as a variable,
 * stays as it is. Workers start with those of their supervisor.
 */
export function restartWithFlags(): void {
  const missing = ENGINE_FLAGS.filter((flag) => !hasFlag(flag))
  const hasEnvironment = Object.keys(ENGINE_ENVIRONMENT).every((name) => name in process.env)
  if (missing.length === 0 && hasEnvironment) return
  // A process with a channel to its parent would lose it.
  if (process.connected || !cluster.isPrimary) return
  if (process.platform === 'win32' || process.execve === undefined) return
  const [node, script = ''] = process.argv
  const args = [...process.execArgv, ...missing, script, ...process.argv.slice(2)]
  const env = { ...ENGINE_ENVIRONMENT, ...process.env }
  process.execve(process.execPath, [node ?? process.execPath, ...args], env)
}

/**
 * Sets what can be set while the engine runs: that objects start their lives young wherever they
 * are created, and `globalThis.gc`. As flags of the process both would make the engine discard
 * the compiled form of Node's own modules, and compile them anew in each start, so they are set
 * once the gateway's modules are loaded. Flags that the operator has set stay.
 */
export function setLateFlags(): void {
  const flag = '--no-allocation-site-pretenuring'
  if (!hasFlag(flag)) setFlagsFromString(flag)
  if (globalThis.gc !== undefined) return
  setFlagsFromString('--expose-gc')
  globalThis.gc = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
}

const keptTicks: object[] = []

/**
 * Keeps one of the objects in which Node queues the callbacks of `process.nextTick`, so that
 * queuing them stays cheap. The engine forgets the shape of objects of which none is left, as after
 * a collection between two calls. Once a line that builds an object with computed keys has met a
 * second shape, the engine never optimizes it again (`Runtime_DefineKeyedOwnPropertyInLiteral`): a
 * callback then costs 0.5 to 1 µs instead of 0.07, and each call queues dozens. Returns the list in
 * which the object is kept from the next tick on.
 */
export function keepTickShape(): readonly object[] {
  process.nextTick(() => keptTicks.push(executionAsyncResource()))
  return keptTicks
}

/** True if the process was started with the flag, whatever its value. */
function hasFlag(flag: string): boolean {
  const present = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)]
  return present.some((one) => isSameFlag(one, flag))
}

function isSameFlag(one: string, other: string): boolean {
  const nameOf = (flag: string) =>
    flag
      .split('=')[0]
      ?.replace(/^--(?:no-)?/, '')
      .replaceAll('_', '-')
  return nameOf(one) === nameOf(other)
}
