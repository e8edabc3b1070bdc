/** The garbage collector's settings, which the engine reads before any code runs. */
import cluster from 'node:cluster'

/** The reasons are in docs/decisions/2026-11-23-memory-for-short-lived-objects.md. */
export const ENGINE_FLAGS = [
  '--min-semi-space-size=16',
  '--max-semi-space-size=64',
  '--no-allocation-site-pretenuring',
]

/**
 * Replaces this process by one with the flags, under the same id, unless they were present. A flag
 * that the operator has set, on the command line or in NODE_OPTIONS, stays as it is. Workers start
 * with the flags of their supervisor.
 */
export function restartWithFlags(): void {
  const present = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)]
  const missing = ENGINE_FLAGS.filter((flag) => !present.some((one) => isSameFlag(one, flag)))
  // A process with a channel to its parent would lose it.
  if (missing.length === 0 || process.connected || !cluster.isPrimary) return
  if (process.platform === 'win32' || process.execve === undefined) return
  const [node, script = ''] = process.argv
  const args = [...process.execArgv, ...missing, script, ...process.argv.slice(2)]
  process.execve(process.execPath, [node ?? process.execPath, ...args], process.env)
}

function isSameFlag(one: string, other: string): boolean {
  const nameOf = (flag: string) =>
    flag
      .split('=')[0]
      ?.replace(/^--(?:no-)?/, '')
      .replaceAll('_', '-')
  return nameOf(one) === nameOf(other)
}
