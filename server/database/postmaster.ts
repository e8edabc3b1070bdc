/** One PostgreSQL server process: started, found again after our own crash, watched, stopped. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Binaries, commandAs, type RunAs } from './embedded-binaries.ts'
import { DatabaseProblem } from './problem.ts'

const LOG_BYTES_MAX = 16 * 1024 * 1024

export interface ServerFolder {
  readonly cluster: string
  readonly socketFolder: string
  readonly logFile: string
  readonly port: number
}

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  shared_buffers: '64MB',
  // Durability is what the gateway promises; nothing here may be traded for speed.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_compression: 'on',
  max_wal_size: '1GB',
  wal_level: 'replica',
  max_wal_senders: '2',
  jit: 'off',
  log_checkpoints: 'off',
  // After a crash every file is synced before recovery: one call does it where there is one.
  ...(process.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {}),
}

/** The pid of the server that runs on this cluster, or undefined; a stale file counts as none. */
export function findRunning(folder: ServerFolder): number | undefined {
  const file = join(folder.cluster, 'postmaster.pid')
  if (!existsSync(file)) return undefined
  const [pidLine, clusterLine] = readFileSync(file, 'utf8').split('\n')
  const pid = Number(pidLine)
  if (!Number.isInteger(pid) || pid <= 1 || clusterLine !== folder.cluster) return undefined
  return isPostgres(pid) ? pid : undefined
}

/** Line of postmaster.pid in which the server says how far it is. */
const STATUS_LINE = 7

/** Whether the server on this cluster says that it takes connections. */
export function saysReady(folder: ServerFolder): boolean {
  try {
    const lines = readFileSync(join(folder.cluster, 'postmaster.pid'), 'utf8').split('\n')
    return lines[STATUS_LINE]?.trim() === 'ready'
  } catch {
    return false
  }
}

/**
 * A pid may have been given to somebody else since, or be a zombie that nobody has waited for;
 * only Linux tells cheaply.
 */
export function isPostgres(pid: number): boolean {
  if (!isAlive(pid)) return false
  try {
    return /^\d+ \(postgres\) [^ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return process.platform !== 'linux'
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Starts a server in a session of its own, so that it survives our crash and our Ctrl-C. */
export function startServer(
  binaries: Binaries,
  user: RunAs | undefined,
  folder: ServerFolder,
  overrides: Readonly<Record<string, string>>,
): ChildProcess {
  if (existsSync(folder.logFile) && statSync(folder.logFile).size > LOG_BYTES_MAX) {
    truncateSync(folder.logFile)
  }
  const settings = { ...SETTINGS, ...overrides, unix_socket_directories: folder.socketFolder }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const { command, prefix, as } = commandAs(user, binaries.postgres, [folder.cluster])
  const log = openSync(folder.logFile, 'a')
  const args = [...prefix, '-D', folder.cluster, '-p', String(folder.port), ...options]
  const child = spawn(command, args, { detached: true, stdio: ['ignore', log, log], ...as })
  closeSync(log)
  child.unref()
  return child
}

/** Where the log ends now: what is written from here on belongs to the next start. */
export function markLog(folder: ServerFolder): number {
  return existsSync(folder.logFile) ? statSync(folder.logFile).size : 0
}

function readLog(folder: ServerFolder, since: number): string {
  if (!existsSync(folder.logFile)) return ''
  const log = readFileSync(folder.logFile)
  return log.subarray(Math.min(since, log.length)).toString('utf8')
}

/** A message that says why the server did not start, from what it logged since the mark. */
export function explainFailure(folder: ServerFolder, since: number): DatabaseProblem {
  const lines = readLog(folder, since).trimEnd().split('\n').slice(-20)
  const fatal = lines.findLast((line) => /FATAL|PANIC|ERROR/.test(line)) ?? lines.at(-1) ?? ''
  const why = fatal.replace(/^.*?(FATAL|PANIC|ERROR):\s*/, '')
  if (/No space left on device/i.test(lines.join('\n'))) {
    return new DatabaseProblem(`the disk of ${folder.cluster} is full: free some space and retry`)
  }
  if (/incompatible with server|initialized by PostgreSQL version/i.test(lines.join('\n'))) {
    return new DatabaseProblem(
      `${folder.cluster} was made by another major version of PostgreSQL: restore a backup into ` +
        'a new DATA_DIR, or set DATABASE_URL',
    )
  }
  return new DatabaseProblem(`PostgreSQL did not start: ${why} (see ${folder.logFile})`)
}

/**
 * True when a dead server's children still hold its memory: they leave by themselves, writing
 * their own last words into the same log meanwhile.
 */
export function isStillLeaving(folder: ServerFolder, since: number): boolean {
  return /pre-existing shared memory block|lock file .* already exists/i.test(
    readLog(folder, since),
  )
}

/** Fast shutdown; immediate when that takes too long. */
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
