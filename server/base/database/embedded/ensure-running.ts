/** Ensures that a server responds: the one already running, or a newly started one. */
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../connection/client.ts'
import type { DatabasePlace } from '../connection/open-client.ts'
import { DatabaseProblem } from '../problem.ts'
import { ping } from '../store.ts'
import { readErrorCode } from '../unavailable.ts'
import type { Binaries, RunAs } from './binaries.ts'
import { explainFailure } from './explain.ts'
import {
  correctStaleLock,
  findRunning,
  isPostgres,
  isStillExiting,
  markLog,
  reportsReady,
  type ServerFolder,
  startServer,
} from './postmaster.ts'

const START_MS = 60_000
const EXITING_MS = 15_000
const POLL_INTERVAL_MS = 10
const EXITING_POLL_MS = 100
const WRONG_PASSWORD = '28P01'

export interface Starting {
  readonly binaries: Binaries
  readonly user: RunAs | undefined
  readonly folder: ServerFolder
  readonly place: DatabasePlace
  readonly settings: Readonly<Record<string, string>>
  readonly progress: (message: string) => void
}

/** Resolves to true if a running server was found, or false if one was started. */
export async function ensureRunning(starting: Starting): Promise<boolean> {
  const { folder } = starting
  const deadline = performance.now() + EXITING_MS
  for (;;) {
    if (await adopt(starting)) return true
    const since = markLog(folder)
    try {
      await start(starting, since)
      return false
    } catch (error) {
      // Another process has just started one, or backends of a dead one are still exiting.
      if (!isStillExiting(folder, since) || performance.now() > deadline) throw error
    }
    await sleep(EXITING_POLL_MS)
  }
}

/** Resolves to false if no server runs, or if the one found was exiting. */
async function adopt(starting: Starting): Promise<boolean> {
  const { folder } = starting
  const running = findRunning(folder.cluster)
  if (running === undefined) return false
  const isUp = () => isPostgres(running)
  try {
    await waitUntilAnswering(starting, markLog(folder), isUp)
    return true
  } catch (error) {
    if (isUp()) throw error
    return false
  }
}

async function start(starting: Starting, since: number): Promise<void> {
  const { binaries, user, folder, settings } = starting
  correctStaleLock(folder)
  const child = startServer(binaries, user, folder, settings)
  let exited = false
  child.once('exit', () => {
    exited = true
  })
  child.once('error', () => {
    exited = true
  })
  await waitUntilAnswering(starting, since, () => !exited)
}

async function waitUntilAnswering(
  starting: Starting,
  since: number,
  isUp: () => boolean,
): Promise<void> {
  const { folder, place, progress } = starting
  const deadline = performance.now() + START_MS
  let reportAt = performance.now() + 2_000
  for (;;) {
    if (!isUp()) throw explainFailure(folder, since)
    if (reportsReady(folder) && (await answers(place))) return
    if (performance.now() > deadline) throw explainFailure(folder, since)
    if (performance.now() > reportAt) {
      progress('waiting for PostgreSQL to recover')
      reportAt = performance.now() + 5_000
    }
    await sleep(POLL_INTERVAL_MS)
  }
}

async function answers(place: DatabasePlace): Promise<boolean> {
  const sql = connect(place, { database: 'postgres', connections: 1 })
  try {
    await ping(sql)
    return true
  } catch (error) {
    if (readErrorCode(error) !== WRONG_PASSWORD) return false
    throw new DatabaseProblem(
      'the embedded PostgreSQL refuses the password in postgres.password: restore that file, or ' +
        'restore a backup into a new DATA_DIR',
      error,
    )
  } finally {
    await sql.end({ timeout: 0 })
  }
}
