/**
 * Metrics in Prometheus' format, on a port of their own. Labels are bounded: no key, account,
 * request or task id is ever a label.
 */
import { createServer, type Server } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { PipelineMetrics } from '../pipeline/pipeline-metrics.ts'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120]

export interface Metrics extends PipelineMetrics {
  readonly registry: Registry
  /** Counts an attempt to copy a result. */
  copied(outcome: string): void
  /** Counts spans that the collector did not take. */
  untraced(spans: number): void
  /** Counts a hold or settlement that the ledger found in an unexpected state. */
  ledgerSurprise(operation: 'hold' | 'settlement', verdict: string): void
}

export interface Gauges {
  readonly callsInFlight: () => number
  readonly settlementsPending: () => number
  readonly channelsCoolingDown: () => number
}

export function createMetrics(gauges: Gauges): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  addGauges(registry, gauges)
  const registers = [registry]
  const requests = new Counter({
    name: 'tributary_requests_total',
    help: 'Requests by route, status and outcome.',
    labelNames: ['route', 'status', 'outcome'],
    registers,
  })
  const durations = new Histogram({
    name: 'tributary_request_seconds',
    help: 'Time from the request head to the end of the response.',
    labelNames: ['route'],
    buckets: SECONDS,
    registers,
  })
  const settled = new Counter({
    name: 'tributary_settlements_total',
    help: 'Settled or released calls by the basis of their charge.',
    labelNames: ['basis', 'review'],
    registers,
  })
  const attempts = new Counter({
    name: 'tributary_upstream_attempts_total',
    help: 'Attempts by channel and outcome.',
    labelNames: ['channel', 'outcome'],
    registers,
  })
  const copies = new Counter({
    name: 'tributary_copies_total',
    help: 'Attempts to copy results into storage, by outcome.',
    labelNames: ['outcome'],
    registers,
  })
  const differing = new Counter({
    name: 'tributary_costs_differing_total',
    help: 'Calls whose upstream states a cost more than 1 % away from the costs of the route.',
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
  return {
    registry,
    ledgerSurprise: (operation, verdict) => surprises.inc({ operation, verdict }),
    untraced: (spans) => untraced.inc(spans),
    copied: (outcome) => copies.inc({ outcome }),
    call({ endpoint, outcome, status, seconds }) {
      requests.inc({ route: endpoint, status, outcome })
      durations.observe({ route: endpoint }, seconds)
    },
    settled: ({ basis, review }) => settled.inc({ basis, review: String(review) }),
    upstreamCostDiffers: () => differing.inc(),
    attempt: ({ channel, outcome }) => attempts.inc({ channel, outcome }),
  }
}

function addGauges(registry: Registry, gauges: Gauges): void {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  const all: readonly [name: string, help: string, read: () => number][] = [
    ['tributary_calls_in_flight', 'Metered calls in progress.', gauges.callsInFlight],
    ['tributary_settlements_pending', 'Ledger operations waiting.', gauges.settlementsPending],
    ['tributary_channels_cooling_down', 'Channels in cooldown.', gauges.channelsCoolingDown],
    ['tributary_loop_delay_p99_seconds', 'Event loop delay.', () => delay.percentile(99) / 1e9],
  ]
  for (const [name, help, read] of all) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  }
}

/** Serves /metrics on its own listener. Resolves to undefined if the port is taken. */
export function serveMetrics(
  registry: Registry,
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
      else reject(error)
    })
    server.listen(address.port, address.host, () => resolve(server))
  })
}
