/**
 * Metrics in Prometheus' format, on a port of their own. Labels are bounded: no key, account,
 * request or task id is ever a label.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { createMemory, type Memory } from '../../base/lib/memory/memory.ts'
import { explainListening } from '../../base/lib/process/explain-listening.ts'
import { createServer, type Server } from '../../base/lib/process/node-http.ts'
import type { PipelineMetrics } from '../../work/pipeline/pipeline-metrics.ts'
import { createCallMetrics } from './call-metrics.ts'
import { createFileMetrics } from './file-metrics.ts'
import { addMemoryMetrics } from './memory-metrics.ts'
import { addGauges, type Gauges } from './operating-metrics.ts'
import { addWorkerGauge } from './worker-gauge.ts'

export interface Metrics extends PipelineMetrics {
  readonly registry: Registry
  /** Counts an attempt to copy a result. */
  copied(outcome: string): void
  /** Counts reads of stored content that is not as it was stored. */
  contentFault(fault: string): void
  /** States whether the object store answers. */
  objectStore(isThere: boolean): void
  /** Counts an attempt of a webhook delivery. */
  webhookAttempt(outcome: string): void
  /** Counts an attempt of a mail. */
  mailAttempt(outcome: string): void
  /** Counts spans that the collector did not take. */
  untraced(spans: number): void
  /** Counts a hold or settlement that the ledger found in an unexpected state. */
  ledgerSurprise(operation: 'hold' | 'settlement', verdict: string): void
  /** Counts a time in which the event loop stood still. */
  loopHeld(seconds: number): void
}

export interface MetricsOptions extends Gauges {
  readonly version: string
  readonly memory: Memory
  /** The most combinations of endpoint, model and channel with figures of their own. */
  readonly placesMax: number
}

/** Default metrics that are sums of others, and whose names Prometheus takes for counters. */
const MISNAMED = ['handles', 'requests', 'resources'].map((one) => `nodejs_active_${one}_total`)

export function createMetrics({ version, placesMax, memory, ...gauges }: MetricsOptions): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  addGauges(registry, gauges)
  addMemoryMetrics(registry, memory)
  const registers = [registry]
  const webhookAttempts = new Counter({
    name: 'tributary_webhook_attempts_total',
    help:
      'Attempts to deliver webhooks, by outcome; dropped: the last attempt failed, and there is ' +
      'no further one.',
    labelNames: ['outcome'],
    registers,
  })
  const mailAttempts = new Counter({
    name: 'tributary_mail_attempts_total',
    help: 'Attempts to send mail, by outcome: sent, retried, or dropped (not tried again).',
    labelNames: ['outcome'],
    registers,
  })
  const untraced = new Counter({
    name: 'tributary_spans_dropped_total',
    help: 'Spans that the trace collector did not accept.',
    registers,
  })
  const surprises = new Counter({
    name: 'tributary_ledger_surprises_total',
    help: 'Holds and settlements that the ledger found closed, late or unknown, by its verdict.',
    labelNames: ['operation', 'verdict'],
    registers,
  })
  const held = new Counter({
    name: 'tributary_loop_held_total',
    help: 'How often the event loop was blocked for 200 ms or more; the log names the request.',
    registers,
  })
  const heldSeconds = new Counter({
    name: 'tributary_loop_held_seconds_total',
    help: 'Total time for which the event loop was blocked for 200 ms or more.',
    registers,
  })
  new Gauge({
    name: 'tributary_build_info',
    help: 'Always 1; the labels say what runs.',
    labelNames: ['version', 'node'],
    aggregator: 'max',
    registers,
  }).set({ version, node: process.versions.node }, 1)
  return {
    ...createCallMetrics(registry, placesMax),
    ...createFileMetrics(registry),
    registry,
    loopHeld(seconds) {
      held.inc()
      heldSeconds.inc(seconds)
    },
    ledgerSurprise: (operation, verdict) => surprises.inc({ operation, verdict }),
    untraced: (spans) => untraced.inc(spans),
    webhookAttempt: (outcome) => webhookAttempts.inc({ outcome }),
    mailAttempt: (outcome) => mailAttempts.inc({ outcome }),
  }
}

/** Returns the gateway's own metrics in the order of their names, for the reference. */
export function listMetrics(): readonly DescribedMetric[] {
  const none = () => 0
  const { registry } = createMetrics({
    version: '',
    memory: createMemory({ bytesMax: 1, diskBytesMax: 1, socketsMax: 1, folder: '/' }, () => false),
    placesMax: 1,
    callsInFlight: none,
    isReady: () => true,
    settlementsPending: none,
    unknownJournals: none,
    channelsCoolingDown: none,
    spendingCaps: () => [],
    liveOwners: none,
    upstreamConnections: () => ({ busy: 0, idle: 0 }),
    readDatabase: async () => ({
      queues: [],
      connections: [],
      failingPolls: [],
      droppedWebhooks: 0,
      commandSuccesses: [],
    }),
  })
  addWorkerGauge(registry)
  return registry
    .getMetricsAsArray()
    .map((metric) => {
      const { name, help, type, labelNames = [] } = metric as unknown as RegisteredMetric
      return { name, help, type: String(type), labels: labelNames }
    })
    .filter(({ name }) => name.startsWith('tributary_'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

export interface DescribedMetric {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly labels: readonly string[]
}

/** The members of a registered metric that its package does not declare. */
interface RegisteredMetric extends Omit<DescribedMetric, 'labels'> {
  readonly labelNames?: readonly string[]
}

const NAMES = { host: 'METRICS_HOST', port: 'METRICS_PORT' }

/** Serves /metrics on its own listener. Resolves to undefined if the port is taken. */
export function serveMetrics(
  registry: { readonly contentType: string; readonly metrics: () => Promise<string> },
  address: { readonly host: string; readonly port: number },
): Promise<Server | undefined> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined)
      else reject(explainListening(error, address, NAMES))
    })
    server.listen(address.port, address.host, () => resolve(server))
  })
}
