/** Finds the PostgreSQL of an embedded database from outside, to kill it. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The pid of the embedded PostgreSQL, from its own pid file, or undefined when there is none. */
export function findPostmaster(dataDir: string): number | undefined {
  const file = join(dataDir, 'postgres', 'postmaster.pid')
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined
}

/** SIGKILL, as the kernel would do it when memory runs out. */
export function killPostmaster(dataDir: string): void {
  const pid = findPostmaster(dataDir)
  if (pid === undefined) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It was gone already and has left its pid file behind.
  }
}
