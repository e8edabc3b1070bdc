/** PostgreSQL servers that a test may pause, kill and fill: never the run's shared one. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readErrorCode } from '../../../server/base/database/unavailable.ts'
import { type ChosenOptions, type ChosenServer, runChoice, startChosen } from './chosen-postgres.ts'

/** Creates a data folder like that of a fresh clone. */
export function makeDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'tributary-own-'))
}

/** A durable server of the test's own; `remove` stops it and deletes its data. */
export async function startOwnServer(
  dataDir = makeDataDir(),
  options: Pick<ChosenOptions, 'choice' | 'settings'> = {},
) {
  // A server that others use cannot be paused and killed.
  const choice = runChoice().includes('://') ? 'embedded' : runChoice()
  const server = await startChosen({ dataDir, choice, ...options })
  return { ...server, dataDir, remove: () => removeServer(server, dataDir) }
}

async function removeServer(server: ChosenServer, dataDir: string): Promise<void> {
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
  if ('socketFolder' in server.place) {
    rmSync(server.place.socketFolder, { recursive: true, force: true })
  }
}

/** The server's process and its backends: a paused or killed server is all of them. */
export function serverProcesses(pid: number): number[] {
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  return [pid, ...children.split('\n').map(Number).filter(Boolean)]
}

export function signalServer(pid: number, signal: NodeJS.Signals): void {
  for (const process_ of serverProcesses(pid)) {
    try {
      process.kill(process_, signal)
    } catch (error) {
      // A backend may have ended since the list was read.
      if (readErrorCode(error) !== 'ESRCH') throw error
    }
  }
}
