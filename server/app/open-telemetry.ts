/** Wires metrics and traces. */

import type { Server } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Config } from '../config/config.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Log } from '../lib/log.ts'
import { sendTraces } from '../outbound/send-traces.ts'
import type { ChannelHealth } from '../pipeline/load/channel-health.ts'
import type { InFlight } from '../pipeline/load/in-flight.ts'
import { createTracer, type Tracer } from '../tracing/tracer.ts'
import { createMetrics, type Metrics, serveMetrics } from './metrics.ts'

export function openTracer(
  { otlpEndpoint }: Config,
  dispatcher: Dispatcher,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
): Tracer | undefined {
  if (otlpEndpoint === undefined) return undefined
  const send = (body: Buffer) => sendTraces(dispatcher, otlpEndpoint, body)
  return createTracer({ send, dropped: metrics.untraced, log })
}

export function openMeters(inFlight: InFlight, ledger: Ledger, health: ChannelHealth) {
  return createMetrics({
    callsInFlight: inFlight.size,
    settlementsPending: ledger.pending,
    channelsCoolingDown: () => health.coolingDown().length,
  })
}

export async function openMetrics(
  config: Config,
  registry: Parameters<typeof serveMetrics>[0],
  log: Log,
): Promise<Server | undefined> {
  const { port } = config.metrics
  if (port === 0) return undefined
  const server = await serveMetrics(registry, config.metrics)
  if (!server) log.warn({ port }, 'the metrics port is taken: no metrics here')
  return server
}
