/**
 * Runs several worker processes on one port, for machines with several cores. The supervisor opens
 * the embedded database, serves the metrics of all workers, and restarts a worker that ends.
 */
import cluster, { type Worker } from 'node:cluster'
import { keepWorker } from '../../base/workers/keep-worker.ts'
import type { StopReason, SupervisorMessage, WorkerMessage } from '../../base/workers/messages.ts'
import { tellOfFewFiles } from '../../base/workers/open-files.ts'
import { type SharedPort, sharePort } from '../../base/workers/share-port.ts'
import type { Config } from '../config/config.ts'
import { tellOfLittleMemory } from '../config/memory-default.ts'
import { createClusterMetrics, serveClusterMetrics } from '../metrics/cluster-metrics.ts'
import { createLog } from './log.ts'
import { openOwnDatabase } from './open-own-database.ts'

/** Runs until `requested` resolves. Returns the exit code. */
export async function supervise(config: Config, requested: Promise<StopReason>): Promise<number> {
  const log = createLog(config.log)
  tellOfFewFiles(config, log)
  tellOfLittleMemory(config, log)
  const database = config.databaseUrl === undefined ? await openOwnDatabase(config) : undefined
  const { port } = config.metrics
  const clusterMetrics = createClusterMetrics()
  const metrics = port === 0 ? undefined : await serveClusterMetrics(clusterMetrics, config.metrics)
  if (port !== 0 && !metrics)
    log.warn({ port }, 'metrics are off in this process: the port is in use')
  const stopping = new AbortController()
  let reason: StopReason | undefined
  void requested.then((signal) => {
    reason = signal
    stopping.abort()
  })
  let sharedPort: SharedPort | undefined
  try {
    sharedPort = await sharePort(addressOf(config), stopping.signal)
    const { add } = clusterMetrics
    const fork = createFork(
      config,
      (worker, place) => {
        sharedPort?.add(worker)
        add(worker, place)
        // Messages that were sent before it listened are lost.
        worker.on('message', ({ tributary }: WorkerMessage) => {
          if (tributary === 'started' && reason) sendStop(worker, reason)
        })
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
    if (started) stopAll(await requested)
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

function stopAll(reason: StopReason): void {
  for (const worker of Object.values(cluster.workers ?? {})) {
    if (worker) sendStop(worker, reason)
  }
}

/** Only the first one counts. */
function sendStop(worker: Worker, reason: StopReason): void {
  const message: SupervisorMessage = { tributary: 'stop', reason }
  if (worker.isConnected()) worker.send(message)
}
