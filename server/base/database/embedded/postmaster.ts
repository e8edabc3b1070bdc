/** One PostgreSQL server process: starting, finding after a crash of the gateway, and stopping. */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { closeToOthers } from '../../lib/secrets/private-files.ts'
import { type Binaries, commandAs, type RunAs } from './binaries.ts'

const LOG_BYTES_MAX = 16 * 1024 * 1024

export interface ServerFolder {
  readonly cluster: string
  readonly socketFolder: string
  readonly logFile: string
  readonly port: number
}

/** Lines of postmaster.pid after the pid: data folder, socket folder and status. */
const CLUSTER_LINE = 1
const SOCKET_LINE = 4
const STATUS_LINE = 7

function readLock(cluster: string): readonly string[] {
  try {
    return readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return []
  }
}

/**
 * Returns the pid of the server that runs on this cluster, or undefined; a stale file is ignored.
 */
export function findRunning(cluster: string): number | undefined {
  const lock = readLock(cluster)
  const pid = Number(lock[0])
  if (!Number.isInteger(pid) || pid <= 1 || lock[CLUSTER_LINE] !== cluster) return undefined
  return isPostgres(pid) ? pid : undefined
}

/**
 * Returns the socket folder of the server that runs on this cluster: TMPDIR may have been
 * different.
 */
export function findSocketFolder(cluster: string): string | undefined {
  if (findRunning(cluster) === undefined) return undefined
  return readLock(cluster)[SOCKET_LINE]?.trim() || undefined
}

/** Returns true if the server on this cluster reports that it accepts connections. */
export function reportsReady(folder: ServerFolder): boolean {
  return readLock(folder.cluster)[STATUS_LINE]?.trim() === 'ready'
}

/** Returns true if the server on this cluster reports that it is stopping. */
export function reportsStopping(folder: ServerFolder): boolean {
  return readLock(folder.cluster)[STATUS_LINE]?.trim() === 'stopping'
}

/**
 * Corrects the lock files of a dead server if its pid now belongs to another process, as happens in
 * a restarted container: PostgreSQL would mistake that process for its predecessor and give up.
 * Only the pid is replaced, by one that no process can have: PostgreSQL uses the rest of the file
 * to detect surviving backends.
 */
export function correctStaleLock(folder: ServerFolder): void {
  if (process.platform !== 'linux' || findRunning(folder.cluster) !== undefined) return
  const nobody = readFileSync('/proc/sys/kernel/pid_max', 'utf8').trim()
  for (const file of [
    join(folder.cluster, 'postmaster.pid'),
    join(folder.socketFolder, `.s.PGSQL.${folder.port}.lock`),
  ]) {
    if (!existsSync(file)) continue
    const lock = readFileSync(file, 'utf8')
    const pid = Number.parseInt(lock, 10)
    if (pid > 1 && isAlive(pid) && !isPostgres(pid)) {
      writeFileSync(file, lock.replace(/^\d+/, nobody))
    }
  }
}

/**
 * Returns true if the process is a running PostgreSQL. The pid may have been reused or be a zombie,
 * which is only checked on Linux.
 */
export function isPostgres(pid: number): boolean {
  if (!isAlive(pid)) return false
  try {
    return /^\d+ \(postgres\) [^ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return process.platform !== 'linux'
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Starts a server in its own session, so that it survives a crash or Ctrl-C of the gateway. */
export function startServer(
  binaries: Binaries,
  user: RunAs | undefined,
  folder: ServerFolder,
  settings: Readonly<Record<string, string>>,
): ChildProcess {
  if (existsSync(folder.logFile) && statSync(folder.logFile).size > LOG_BYTES_MAX) {
    truncateSync(folder.logFile)
  }
  const all = { ...settings, unix_socket_directories: folder.socketFolder }
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const { command, prefix, as } = commandAs(user, binaries.postgres, [
    folder.cluster,
    join(folder.socketFolder, 'socket'),
  ])
  const log = openSync(folder.logFile, 'a', 0o600)
  closeToOthers(folder.logFile)
  const args = [...prefix, '-D', folder.cluster, '-p', String(folder.port), ...options]
  const child = spawn(command, args, { detached: true, stdio: ['ignore', log, log], ...as })
  closeSync(log)
  child.unref()
  return child
}

/** Returns the current end of the log: later lines belong to the next start. */
export function markLog(folder: ServerFolder): number {
  return existsSync(folder.logFile) ? statSync(folder.logFile).size : 0
}

/** Returns the log from `since` on. */
export function readLog(folder: ServerFolder, since: number): string {
  if (!existsSync(folder.logFile)) return ''
  const log = readFileSync(folder.logFile)
  return log.subarray(Math.min(since, log.length)).toString('utf8')
}

/**
 * Returns true if children of a dead server still hold its shared memory: they exit by themselves
 * and write to the same log meanwhile.
 */
export function isStillExiting(folder: ServerFolder, since: number): boolean {
  return /pre-existing shared memory block|lock file "[^"]*" (already exists|is empty)/i.test(
    readLog(folder, since),
  )
}

/** Fast shutdown, then immediate shutdown, then SIGKILL, each after `patienceMs`. */
export async function stopServer(pid: number, patienceMs: number): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    try {
      process.kill(pid, signal)
    } catch {
      return
    }
    const deadline = performance.now() + patienceMs
    while (performance.now() < deadline) {
      if (!isPostgres(pid)) return
      await sleep(20)
    }
  }
}
