/** Ensures that a server responds: the one already running, or a newly started one. */
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../connection/client.ts'
import type { DatabasePlace } from '../connection/open-client.ts'
import { DatabaseProblem } from '../problem.ts'
import { ping } from '../store.ts'
import { readErrorCode } from '../unavailable.ts'
import type { Binaries, RunAs } from './binaries.ts'
import { explainFailure, explainStopping } from './explain.ts'
import {
  correctStaleLock,
  findRunning,
  isPostgres,
  isStillExiting,
  markLog,
  reportsReady,
  reportsStopping,
  type ServerFolder,
  startServer,
} from './postmaster.ts'

const START_MS = 60_000
/** A shutdown writes everything that is not on disk yet, which takes a while on a slow one. */
const STOPPING_MS = 60_000
const POLL_INTERVAL_MS = 10
const EXITING_POLL_MS = 100
const REPORT_INTERVAL_MS = 5_000
const WRONG_PASSWORD = '28P01'

export interface Starting {
  readonly binaries: Binaries
  readonly user: RunAs | undefined
  readonly folder: ServerFolder
  readonly place: DatabasePlace
  readonly settings: Readonly<Record<string, string>>
  readonly progress: (message: string) => void
  /** The longest wait for a server that is stopping; only for tests. */
  readonly stoppingMs?: number | undefined
}

/**
 * Resolves to true if a running server was found, or false if one was started. Waits for the end of
 * one that is stopping.
 */
export async function ensureRunning(starting: Starting): Promise<boolean> {
  const { folder, stoppingMs = STOPPING_MS } = starting
  let deadline = performance.now() + stoppingMs
  const report = createReport(starting)
  for (;;) {
    const found = await adopt(starting, report)
    if (found === 'running') return true
    if (found === 'stopped') deadline = performance.now() + stoppingMs
    const since = markLog(folder)
    try {
      await start(starting, since)
      return false
    } catch (error) {
      // Another process has just started one, or backends of a dead one are still exiting.
      if (!isStillExiting(folder, since)) throw error
      if (performance.now() > deadline) throw explainStopping(folder)
    }
    report()
    await sleep(EXITING_POLL_MS)
  }
}

/** Returns a function that now and then reports a wait for the server of the previous run. */
function createReport({ progress }: Starting): () => void {
  let reportAt = 0
  return () => {
    if (performance.now() < reportAt) return
    progress('waiting for the PostgreSQL of the previous run to stop')
    reportAt = performance.now() + REPORT_INTERVAL_MS
  }
}

/** A server that was found; `stopped` if it was stopping and had to be waited for. */
type Found = 'none' | 'running' | 'stopped'

async function adopt(starting: Starting, report: () => void): Promise<Found> {
  const { folder, stoppingMs = STOPPING_MS } = starting
  const running = findRunning(folder.cluster)
  if (running === undefined) return 'none'
  const isUp = () => isPostgres(running) && !reportsStopping(folder)
  try {
    await waitUntilAnswering(starting, markLog(folder), isUp)
    return 'running'
  } catch (error) {
    if (isUp()) throw error
  }
  const deadline = performance.now() + stoppingMs
  while (isPostgres(running)) {
    if (performance.now() > deadline) throw explainStopping(folder)
    report()
    await sleep(POLL_INTERVAL_MS)
  }
  return 'stopped'
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
      reportAt = performance.now() + REPORT_INTERVAL_MS
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
