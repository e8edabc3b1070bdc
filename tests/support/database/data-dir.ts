/** A data folder of a test's own, and what its server says about itself. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext } from 'node:test'
import { findRunning } from '../../../server/base/database/embedded/postmaster.ts'
import { until } from '../until.ts'
import { makeDataDir } from './own-postgres.ts'
import { killLeftProcesses } from './run-database-process.ts'

/** The server's pid by its own note; undefined once it has stopped in order. */
export function serverPid(dataDir: string): number | undefined {
  const file = join(dataDir, 'postgres', 'postmaster.pid')
  if (!existsSync(file)) return undefined
  return Number.parseInt(readFileSync(file, 'utf8'), 10)
}

/** Removed at the end of the test, with nothing of it left running. */
export function useDataDir(t: TestContext, dataDir = makeDataDir()): string {
  t.after(async () => {
    await killLeftProcesses()
    await stopLeftServer(dataDir)
    rmSync(dataDir, { recursive: true, force: true })
  })
  return dataDir
}

/**
 * Returns the way to one folder for the tests of a file, which run one after another: to initialise
 * a cluster takes longer than most of them. Nothing is left running at the end of each.
 */
export function shareDataDir(): (t: TestContext) => string {
  const dataDir = makeDataDir()
  after(() => rmSync(dataDir, { recursive: true, force: true }))
  return (t) => {
    t.after(async () => {
      await killLeftProcesses()
      await stopLeftServer(dataDir)
    })
    return dataDir
  }
}

/** Ends the server that a killed process has left on this folder, if there is one. */
export async function stopLeftServer(dataDir: string): Promise<void> {
  const cluster = join(dataDir, 'postgres')
  const pid = findRunning(cluster)
  if (pid === undefined) return
  process.kill(pid, 'SIGQUIT')
  await until('the end of the server', () => findRunning(cluster) !== pid)
}
