/**
 * Metrics of several worker processes at one address. A scrape asks every worker and waits a second
 * at most: if a worker does not answer, its last values are used, so that no sum falls and rises
 * again. The counts of an ended worker stay in the sums, as of the last scrape.
 */
import type { Worker } from 'node:cluster'
import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import type { SupervisorMessage, WorkerMessage } from '../../base/workers/messages.ts'
import { serveMetrics } from './metrics.ts'
import { addWorkerGauge } from './worker-gauge.ts'

/** The values of each metric of one process. */
type Figures = readonly MetricObjectWithValues<MetricValue<string>>[]

/** Prometheus waits for ten seconds by default, and one silent worker must not cost them. */
const ANSWER_MS = 1_000

/** Lets the supervisor of this worker process read its metrics. */
export function shareMetrics(registry: Registry): void {
  const send = (figures: unknown) => {
    const answer: WorkerMessage = { tributary: 'metrics', figures }
    process.send?.(answer, undefined, undefined, () => undefined)
  }
  process.on('message', ({ tributary }: SupervisorMessage) => {
    // A worker that cannot read its metrics does not answer, and its last values are used.
    if (tributary === 'metrics') registry.getMetricsAsJSON().then(send, () => undefined)
  })
}

export interface ClusterMetrics {
  readonly contentType: string
  /** Includes a worker until it ends. `place` is the same for the one that replaces it. */
  add(worker: Worker, place: number): void
  /** Returns the metrics of all workers as text. */
  metrics(): Promise<string>
}

interface Place {
  worker: Worker | undefined
  figures: Figures
  /** Resolves the running scrape's wait for this worker. */
  onAnswer: (() => void) | undefined
}

export function createClusterMetrics(): ClusterMetrics {
  const places = new Map<number, Place>()
  let ended: Promise<Figures> = Promise.resolve([])

  async function addCounters(before: Figures, figures: Figures): Promise<Figures> {
    const counted = figures.filter(({ type }) => String(type) !== 'gauge')
    return await AggregatorRegistry.aggregate([[...before], counted]).getMetricsAsJSON()
  }

  /** Resolves to whether the worker has answered in time. */
  function ask(place: Place): Promise<boolean> {
    const { worker } = place
    if (!worker?.isConnected()) return Promise.resolve(false)
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ANSWER_MS, false)
      const onAnswer = () => {
        clearTimeout(timer)
        resolve(true)
      }
      place.onAnswer = onAnswer
      const message: SupervisorMessage = { tributary: 'metrics' }
      worker.send(message, () => undefined)
    })
  }

  async function scrape(): Promise<string> {
    const all = [...places]
    const answers = await Promise.all(all.map(([, place]) => ask(place)))
    const own = new Registry()
    const gauge = addWorkerGauge(own)
    for (const [index, [number]] of all.entries()) {
      gauge.set({ worker: String(number) }, answers[index] ? 1 : 0)
    }
    const figures = all.map(([, place]) => [...place.figures])
    const registry = AggregatorRegistry.aggregate([[...(await ended)], ...figures])
    return `${await registry.metrics()}\n${await own.metrics()}`
  }

  let running: Promise<string> | undefined
  return {
    contentType: Registry.PROMETHEUS_CONTENT_TYPE,
    add(worker, number) {
      const place: Place = { worker, figures: [], onAnswer: undefined }
      places.set(number, place)
      worker.on('message', (message: WorkerMessage) => {
        if (message.tributary !== 'metrics') return
        place.figures = message.figures as Figures
        place.onAnswer?.()
      })
      worker.once('exit', () => {
        const { figures } = place
        place.worker = undefined
        place.figures = []
        ended = ended.then((before) => addCounters(before, figures))
      })
    },
    metrics() {
      running ??= scrape().finally(() => {
        running = undefined
      })
      return running
    },
  }
}

/** Serves the metrics of all workers; undefined if the port is taken. */
export function serveClusterMetrics(
  metrics: ClusterMetrics,
  address: { readonly host: string; readonly port: number },
) {
  return serveMetrics(metrics, address)
}
