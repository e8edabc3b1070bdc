/** Starts a worker process and replaces it whenever it ends. */
import type { Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../lib/log.ts'
import type { WorkerMessage } from './messages.ts'
import { SILENT_SECONDS, watchWorker } from './watch-worker.ts'

const BACKOFF_MS_MIN = 500
const BACKOFF_MS_MAX = 30_000
/** A worker that lived longer is restarted without a longer wait. */
const STEADY_MS = 30_000

interface KeptWorker {
  /** Resolves with undefined if the first process ends before it answers calls. */
  readonly started: Promise<WorkerMessage | undefined>
  /** Resolves once the worker has ended for good. */
  readonly ended: Promise<void>
}

interface KeepOptions {
  readonly stopping: AbortSignal
  /** A first process that ends before it answers calls is not replaced. */
  readonly mustStart: boolean
}

/** Keeps a worker until `stopping`. */
export function keepWorker(
  fork: () => Worker,
  log: Pick<Log, 'error'>,
  { stopping, mustStart }: KeepOptions,
): KeptWorker {
  const first = Promise.withResolvers<WorkerMessage | undefined>()
  return { started: first.promise, ended: run() }

  async function run(): Promise<void> {
    let isKept = !mustStart
    for (let failures = 0; !stopping.aborted; failures += 1) {
      const since = performance.now()
      const { pid, reason } = await runOne(fork, log, (worker, message) => {
        isKept = true
        first.resolve(message)
        watchWorker(worker, () => endSilent(worker, log))
      })
      first.resolve(undefined)
      if (stopping.aborted || !isKept) return
      if (performance.now() - since > STEADY_MS) failures = 0
      const waitMs = Math.min(BACKOFF_MS_MIN * 2 ** failures, BACKOFF_MS_MAX)
      log.error({ pid, reason }, `a worker ended: restarting in ${waitMs} ms`)
      await sleep(waitMs, undefined, { signal: stopping }).catch(() => undefined)
    }
  }
}

interface Ended {
  readonly pid?: number | undefined
  readonly reason: string
}

/** Resolves once the process has ended, or could not be started. */
async function runOne(
  fork: () => Worker,
  log: Pick<Log, 'error'>,
  onStarted: (worker: Worker, message: WorkerMessage) => void,
): Promise<Ended> {
  let worker: Worker
  try {
    worker = fork()
  } catch (error) {
    return notStarted(error)
  }
  worker.on('message', (message: WorkerMessage) => {
    if (message.tributary === 'started') onStarted(worker, message)
  })
  const { promise, resolve } = Promise.withResolvers<Ended>()
  worker.once('exit', (code: number | null, signal: string | null) => {
    resolve({ pid: worker.process.pid, reason: signal ?? `exit code ${code}` })
  })
  worker.on('error', (error) => {
    const { pid } = worker.process
    // If the machine has no room for another process, it never ran, so there is no `exit` event.
    if (pid === undefined) resolve(notStarted(error))
    else log.error({ pid, error }, 'a worker did not get a message')
  })
  return await promise
}

function notStarted(error: unknown): Ended {
  return { reason: `it cannot be started: ${error instanceof Error ? error.message : error}` }
}

/**
 * A signal that the worker would have to handle cannot end it. Its calls are closed when its lease
 * expires.
 */
function endSilent({ process: { pid } }: Worker, log: Pick<Log, 'error'>): void {
  const fields = { pid, seconds: SILENT_SECONDS }
  log.error(fields, 'a worker does not answer because its event loop is blocked: ending it')
  if (pid !== undefined) process.kill(pid, 'SIGKILL')
}
