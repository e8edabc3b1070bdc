/** Prepares the engine and the C library before any other code runs. */
import { executionAsyncResource } from 'node:async_hooks'
import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'

/** Helper threads of the engine; more of them than free cores would delay everything else. */
const HELPERS_MAX = 4

/** The reasons are in docs/decisions/2026-11-23-memory-for-short-lived-objects.md. */
export const ENGINE_FLAGS = [
  '--min-semi-space-size=16',
  '--max-semi-space-size=48',
  '--no-allocation-site-pretenuring',
  '--expose-gc',
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
  const present = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)]
  const missing = ENGINE_FLAGS.filter((flag) => !present.some((one) => isSameFlag(one, flag)))
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

function isSameFlag(one: string, other: string): boolean {
  const nameOf = (flag: string) =>
    flag
      .split('=')[0]
      ?.replace(/^--(?:no-)?/, '')
      .replaceAll('_', '-')
  return nameOf(one) === nameOf(other)
}
