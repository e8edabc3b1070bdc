/**
 * Runs several worker processes on one port, for machines with several cores. The supervisor opens
 * the embedded database, serves the metrics of all workers, and restarts a worker that ends.
 */
import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../base/lib/log.ts'
import type { StopReason, SupervisorMessage, WorkerMessage } from '../../base/workers/messages.ts'
import { type SharedPort, sharePort } from '../../base/workers/share-port.ts'
import { SILENT_SECONDS, watchWorker } from '../../base/workers/watch-worker.ts'
import type { Config } from '../config/config.ts'
import { createClusterMetrics, serveClusterMetrics } from '../metrics/cluster-metrics.ts'
import { createLog } from './log.ts'
import { openOwnDatabase } from './open-own-database.ts'

const BACKOFF_MS_MIN = 500
const BACKOFF_MS_MAX = 30_000
/** A worker that lived longer is restarted without a longer wait. */
const STEADY_MS = 30_000

/** Runs until `requested` resolves. Returns the exit code. */
export async function supervise(config: Config, requested: Promise<StopReason>): Promise<number> {
  const log = createLog(config.log)
  const database = config.databaseUrl === undefined ? await openOwnDatabase(config) : undefined
  const { port } = config.metrics
  const clusterMetrics = createClusterMetrics()
  const metrics = port === 0 ? undefined : await serveClusterMetrics(clusterMetrics, config.metrics)
  if (port !== 0 && !metrics)
    log.warn({ port }, 'metrics are off in this process: the port is in use')
  const stopping = new AbortController()
  void requested.then(() => stopping.abort())
  let sharedPort: SharedPort | undefined
  try {
    sharedPort = await sharePort(addressOf(config), stopping.signal)
    const { add } = clusterMetrics
    const fork = createFork(
      config,
      (worker, place) => {
        sharedPort?.add(worker)
        add(worker, place)
      },
      sharedPort.port,
    )
    const keep = (place: number) =>
      keepWorker(() => fork(place), log, { stopping: stopping.signal, mustStart: place === 1 })
    const first = keep(1)
    const started = await first.started
    const others =
      started && !started.isDemo
        ? Array.from({ length: config.workers - 1 }, (_, index) => keep(index + 2))
        : []
    if (started?.isDemo) log.info({}, 'demo mode runs one worker')
    if (started) sendStop(await requested)
    else stopping.abort()
    await Promise.all([first, ...others].map(({ ended }) => ended))
    return started ? 0 : 1
  } finally {
    sharedPort?.destroy()
    metrics?.close()
    await database?.stop()
  }
}

function addressOf({ host, port, server }: Config) {
  return { host, port, waitingMax: server.connectionsMax }
}

/** A worker gets its settings from the environment alone, with the port that the supervisor has. */
function createFork(
  { role, host }: Config,
  onFork: (worker: Worker, place: number) => void,
  port: number,
): (place: number) => Worker {
  const settings = { ROLE: role, HOST: host, PORT: String(port), METRICS_PORT: '0' }
  return (place) => {
    const worker = cluster.fork(settings)
    onFork(worker, place)
    return worker
  }
}

function sendStop(reason: StopReason): void {
  const message: SupervisorMessage = { tributary: 'stop', reason }
  for (const worker of Object.values(cluster.workers ?? {})) {
    // A worker that is starting gets the signal: it has no listener of messages yet.
    if (worker?.isConnected()) worker.send(message)
  }
}

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

/** Starts a worker and replaces it whenever it ends, until `stopping`. */
function keepWorker(fork: () => Worker, log: Log, options: KeepOptions): KeptWorker {
  const { stopping } = options
  const first = Promise.withResolvers<WorkerMessage | undefined>()
  return { started: first.promise, ended: run() }

  async function run(): Promise<void> {
    let isKept = !options.mustStart
    for (let failures = 0; !stopping.aborted; failures += 1) {
      const since = performance.now()
      const worker = fork()
      worker.on('message', (message: WorkerMessage) => {
        if (message.tributary !== 'started') return
        isKept = true
        first.resolve(message)
        watchWorker(worker, () => endSilent(worker, log))
      })
      const { code, signal } = await untilExit(worker)
      first.resolve(undefined)
      if (stopping.aborted || !isKept) return
      if (performance.now() - since > STEADY_MS) failures = 0
      const waitMs = Math.min(BACKOFF_MS_MIN * 2 ** failures, BACKOFF_MS_MAX)
      const reason = signal ?? `exit code ${code}`
      log.error({ pid: worker.process.pid, reason }, `a worker ended: restarting in ${waitMs} ms`)
      await sleep(waitMs, undefined, { signal: stopping }).catch(() => undefined)
    }
  }
}

/** No signal that it would have to handle ends such a worker. Its calls are closed by its lease. */
function endSilent({ process: { pid } }: Worker, log: Log): void {
  const fields = { pid, seconds: SILENT_SECONDS }
  log.error(fields, 'a worker does not answer: its event loop stands still, so it is ended')
  if (pid !== undefined) process.kill(pid, 'SIGKILL')
}

function untilExit(worker: Worker): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve) => {
    worker.once('exit', (code: number | null, signal: string | null) => resolve({ code, signal }))
  })
}
