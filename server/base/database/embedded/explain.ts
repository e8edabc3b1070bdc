/** Converts failures around an embedded database to one-line messages that say what to do. */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseProblem } from '../problem.ts'
import { readErrorCode } from '../unavailable.ts'
import { findRunning, readLog, type ServerFolder } from './postmaster.ts'

/**
 * The size of a write-ahead log segment; with less free space PostgreSQL cannot report its error.
 */
const SEGMENT_BYTES = 16 * 1024 * 1024
/** The size of an empty cluster with its first segments, plus a margin. */
const CLUSTER_BYTES = 96 * 1024 * 1024

/** Returns why `folder` cannot be written to, based on the error of the attempt. */
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

/** Throws before the first start if the disk is too small, since initdb fails without a message. */
export function refuseSmallDisk(folder: string): void {
  if (freeBytes(folder) < CLUSTER_BYTES) throw diskFull(folder)
}

/** Returns why initdb failed, based on its output. */
export function explainInitdb(cluster: string, output: string): DatabaseProblem {
  if (mentionsFullDisk(output)) return diskFull(cluster)
  if (/could not look up effective user ID/.test(output)) {
    return new DatabaseProblem(
      'the current user has no entry in /etc/passwd, which PostgreSQL needs: add one, run as ' +
        'root, or set DATABASE_URL',
    )
  }
  return new DatabaseProblem(`initdb failed: ${output.split('\n').slice(-3).join(' ')}`)
}

/** Returns why the server did not start, based on its log since the mark. */
export function explainFailure(folder: ServerFolder, since: number): DatabaseProblem {
  const log = readLog(folder, since)
  if (mentionsFullDisk(log) || freeBytes(dirname(folder.cluster)) < SEGMENT_BYTES)
    return diskFull(folder.cluster)
  if (/incompatible with server|initialized by PostgreSQL version/i.test(log)) {
    return new DatabaseProblem(
      `${folder.cluster} was created by another major version of PostgreSQL: start the version ` +
        'of Tributary that made it, or restore a backup into a new DATA_DIR',
    )
  }
  const lines = log.trimEnd().split('\n').slice(-20)
  const fatal = lines.findLast((line) => /FATAL|PANIC|ERROR/.test(line)) ?? lines.at(-1) ?? ''
  const why = fatal.replace(/^.*?(FATAL|PANIC|ERROR):\s*/, '')
  return new DatabaseProblem(`PostgreSQL did not start: ${why} (see ${folder.logFile})`)
}

/** Returns what to do about a server of the previous run that does not end. */
export function explainStopping(folder: ServerFolder): DatabaseProblem {
  const pid = findRunning(folder.cluster)
  const advice =
    pid === undefined
      ? 'start again once no process uses it any more'
      : `start again once process ${pid} has ended, or end it with 'kill -QUIT ${pid}', which ` +
        'loses no committed data'
  return new DatabaseProblem(
    `the embedded PostgreSQL of the previous run is still stopping in ${folder.cluster}: ` +
      `${advice} (see ${folder.logFile})`,
  )
}

function diskFull(folder: string, cause?: unknown): DatabaseProblem {
  return new DatabaseProblem(`the disk of ${folder} is full: free some space and retry`, cause)
}

function mentionsFullDisk(text: string): boolean {
  return /No space left|quota exceeded/i.test(text)
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
