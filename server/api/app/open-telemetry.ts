/** Wires metrics and traces. */

import cluster from 'node:cluster'
import type { Server } from 'node:http'
import type { Sql } from 'postgres'
import type { Dispatcher } from 'undici'
import type { Log } from '../../base/lib/log.ts'
import type { Memory } from '../../base/lib/memory/memory.ts'
import { type HeldLoop, watchLoop } from '../../base/lib/process/loop-watch.ts'
import type { Telemetry } from '../../base/tracing/sdk.ts'
import type { Sweeper } from '../../money/ledger/leases/sweeper.ts'
import type { Ledger } from '../../money/ledger/ledger.ts'
import { readCommandSuccesses } from '../../money/usage/command-run-store.ts'
import {
  countDroppedWebhooks,
  readConnections,
  readFailingPolls,
  readQueues,
} from '../../money/usage/operating-store.ts'
import type { ChannelHealth } from '../../work/pipeline/load/channel-health.ts'
import type { ChannelSpending } from '../../work/pipeline/load/channel-spending.ts'
import type { InFlight } from '../../work/pipeline/load/in-flight.ts'
import type { Config } from '../config/config.ts'
import { readVersion } from '../config/version.ts'
import { shareMetrics } from '../metrics/cluster-metrics.ts'
import { createMetrics, type Metrics, serveMetrics } from '../metrics/metrics.ts'
import { createLog } from './log.ts'
import { countConnections } from './open-outbound.ts'

/** Loads and starts OpenTelemetry's SDK if the environment names an exporter. */
export async function openTelemetry(config: Config): Promise<Telemetry | undefined> {
  if (!config.loadsTelemetry) return undefined
  const { startTelemetry } = await import('../../base/tracing/sdk.ts')
  const { placesMax } = config.metrics
  const log = createLog(config.log)
  return startTelemetry({ version: readVersion(), sampling: config.sampling, placesMax, log })
}

export function openMeters(parts: {
  readonly config: Config
  readonly sql: Sql
  readonly inFlight: InFlight
  readonly ledger: Ledger
  readonly health: ChannelHealth
  readonly spending: ChannelSpending
  readonly sweeper: Sweeper
  readonly dispatcher: Dispatcher
  readonly memory: Memory
  readonly readiness: { readonly reason: () => string | undefined }
}): Metrics {
  const { config, sql, inFlight, ledger, memory, health, sweeper, spending } = parts
  const { dispatcher, readiness } = parts
  return createMetrics({
    version: readVersion(),
    memory,
    placesMax: config.metrics.placesMax,
    callsInFlight: inFlight.size,
    isReady: () => readiness.reason() === undefined,
    settlementsPending: ledger.pending,
    unknownJournals: ledger.unknownJournals,
    channelsCoolingDown: () => health.coolingDown().length,
    spendingCaps: spending.all,
    liveOwners: sweeper.liveOwners,
    upstreamConnections: () => countConnections(dispatcher),
    async readDatabase() {
      const [queues, connections, failingPolls, droppedWebhooks, commandSuccesses] =
        await Promise.all([
          readQueues(sql),
          readConnections(sql),
          readFailingPolls(sql),
          countDroppedWebhooks(sql),
          readCommandSuccesses(sql),
        ])
      return { queues, connections, failingPolls, droppedWebhooks, commandSuccesses }
    },
  })
}

export async function openMetrics(
  config: Config,
  registry: Metrics['registry'],
  log: Log,
): Promise<Server | undefined> {
  const { port } = config.metrics
  if (cluster.isWorker) shareMetrics(registry)
  if (port === 0) return undefined
  const server = await serveMetrics(registry, config.metrics)
  if (!server) log.warn({ port }, 'metrics are off in this process: the port is in use')
  return server
}

export interface LoopWatch {
  stop(): void
}

/** Reports what blocked the event loop, in the log and in the metrics. */
export function openLoopWatch(log: Log, metrics: Pick<Metrics, 'loopHeld'>): LoopWatch {
  const stop = watchLoop((held) => {
    metrics.loopHeld(held.heldMs / 1000)
    log.warn(describe(held), 'the event loop was blocked: no other request was served meanwhile')
  })
  return { stop }
}

function describe({ heldMs, cpuMs, longest }: HeldLoop) {
  const { work, tookMs } = longest ?? {}
  return {
    duration_ms: Math.round(heldMs),
    cpu_ms: Math.round(cpuMs),
    request_id: work?.requestId,
    request_ms: tookMs === undefined ? undefined : Math.round(tookMs),
    route: work?.route,
    account_id: work?.facts.accountId,
    model: work?.facts.model?.slice(0, 100),
  }
}
