/** Finds the PostgreSQL process of an embedded database from outside, to kill it. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the pid from PostgreSQL's own pid file, or undefined without one. */
export function findPostmaster(dataDir: string): number | undefined {
  const file = join(dataDir, 'postgres', 'postmaster.pid')
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined
}

/** Sends SIGKILL, as the kernel does when memory runs out. */
export function killPostmaster(dataDir: string): void {
  const pid = findPostmaster(dataDir)
  if (pid === undefined) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It had already exited and left its pid file behind.
  }
}
