/** PostgreSQL servers that a test may pause, kill and fill: never the run's shared one. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedServer, startEmbedded } from '../../../server/database/embedded/embedded.ts'

/** Creates a data folder like that of a fresh clone. */
export function makeDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'tributary-own-'))
}

/** A durable server of the test's own; `remove` stops it and deletes its data. */
export async function startOwnServer(dataDir = makeDataDir()) {
  const server = await startEmbedded({ dataDir })
  return { ...server, dataDir, remove: () => removeServer(server, dataDir) }
}

async function removeServer(server: EmbeddedServer, dataDir: string): Promise<void> {
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
  rmSync(server.place.socketFolder, { recursive: true, force: true })
}

/** The server's process and its backends: a paused or killed server is all of them. */
export function serverProcesses(pid: number): number[] {
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  return [pid, ...children.split('\n').map(Number).filter(Boolean)]
}

export function signalServer(pid: number, signal: NodeJS.Signals): void {
  for (const process_ of serverProcesses(pid)) process.kill(process_, signal)
}
