/** Turns what went wrong around an embedded database into one line that says what to do. */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseProblem } from '../problem.ts'
import { readErrorCode } from '../unavailable.ts'
import { readLog, type ServerFolder } from './postmaster.ts'

/** A write-ahead log segment: with less, PostgreSQL cannot even say what is wrong. */
const SEGMENT_BYTES = 16 * 1024 * 1024
/** An empty cluster, with its first segments and something to spare. */
const CLUSTER_BYTES = 96 * 1024 * 1024

/** Why `folder` could not be written to, from the error of the attempt. */
export function explainWriting(folder: string, cause: unknown): DatabaseProblem {
  const code = readErrorCode(cause)
  if (code === 'ENOSPC' || code === 'EDQUOT') return diskFull(folder, cause)
  const advice = 'set DATA_DIR to another folder'
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return new DatabaseProblem(`${folder} is not a folder: ${advice}`, cause)
  }
  return new DatabaseProblem(
    `${folder} is not writable (${code}): change its owner or permissions, or ${advice}`,
    cause,
  )
}

/** Before the first start: initdb dies without a word when the disk fills under it. */
export function refuseSmallDisk(folder: string): void {
  if (freeBytes(folder) < CLUSTER_BYTES) throw diskFull(folder)
}

/** Why initdb failed, from what it said. */
export function explainInitdb(cluster: string, said: string): DatabaseProblem {
  if (saysFull(said)) return diskFull(cluster)
  if (/could not look up effective user ID/.test(said)) {
    return new DatabaseProblem(
      'the user we run as has no entry in /etc/passwd, which PostgreSQL needs: add one, run as ' +
        'root, or set DATABASE_URL',
    )
  }
  return new DatabaseProblem(`initdb failed: ${said.split('\n').slice(-3).join(' ')}`)
}

/** Why the server did not start, from what it logged since the mark. */
export function explainFailure(folder: ServerFolder, since: number): DatabaseProblem {
  const log = readLog(folder, since)
  if (saysFull(log) || freeBytes(dirname(folder.cluster)) < SEGMENT_BYTES)
    return diskFull(folder.cluster)
  if (/incompatible with server|initialized by PostgreSQL version/i.test(log)) {
    return new DatabaseProblem(
      `${folder.cluster} was made by another major version of PostgreSQL: start the version of ` +
        'Tributary that made it, or restore a backup into a new DATA_DIR',
    )
  }
  const lines = log.trimEnd().split('\n').slice(-20)
  const fatal = lines.findLast((line) => /FATAL|PANIC|ERROR/.test(line)) ?? lines.at(-1) ?? ''
  const why = fatal.replace(/^.*?(FATAL|PANIC|ERROR):\s*/, '')
  return new DatabaseProblem(`PostgreSQL did not start: ${why} (see ${folder.logFile})`)
}

function diskFull(folder: string, cause?: unknown): DatabaseProblem {
  return new DatabaseProblem(`the disk of ${folder} is full: free some space and retry`, cause)
}

function saysFull(text: string): boolean {
  return /No space left|quota exceeded/i.test(text)
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
