/**
 * Metrics that are read at each scrape: queues and connections from the database, at most every
 * few seconds however many scrapes arrive, and gauges of the process.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, type Registry } from 'prom-client'
import type { ConnectionRow, QueueRow } from '../usage/operating-store.ts'

export interface Gauges {
  readonly callsInFlight: () => number
  readonly settlementsPending: () => number
  readonly channelsCoolingDown: () => number
  readonly spendingCaps: () => readonly {
    readonly channel: string
    readonly period: string
    readonly spentNanos: bigint
    readonly capNanos: bigint
  }[]
  readonly liveOwners: () => number
  readonly upstreamConnections: () => { readonly busy: number; readonly idle: number }
  /** Rejects while the database is unavailable. */
  readonly readDatabase: () => Promise<DatabaseFigures>
}

export interface DatabaseFigures {
  readonly queues: readonly QueueRow[]
  readonly connections: readonly ConnectionRow[]
}

/** Figures of the database are at most this old. */
const FRESH_MS = 5_000
/** A scrape waits at most this long for the database. */
const READ_MS = 2_000

const QUEUES = ['tasks', 'webhooks', 'copies'] as const
const STATES = ['active', 'idle', 'in_transaction'] as const

export function addGauges(registry: Registry, gauges: Gauges): void {
  addProcessGauges(registry, gauges)
  addDatabaseGauges(registry, gauges.readDatabase)
  new Gauge({
    name: 'tributary_channel_spending_ratio',
    help: 'Spending of a channel as a fraction of its cap; at 1 the cap is reached.',
    labelNames: ['channel', 'period'],
    // Each worker reads the same figures.
    aggregator: 'max',
    registers: [registry],
    collect() {
      this.reset()
      for (const { channel, period, spentNanos, capNanos } of gauges.spendingCaps()) {
        this.set({ channel, period }, Number(spentNanos) / Number(capNanos))
      }
    },
  })
  new Gauge({
    name: 'tributary_upstream_connections',
    help: 'Connections of this process to upstreams.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { busy, idle } = gauges.upstreamConnections()
      this.set({ state: 'busy' }, busy)
      this.set({ state: 'idle' }, idle)
    },
  })
}

const OF_ONE_WORKER = /live_processes|loop_delay/

function addProcessGauges(registry: Registry, gauges: Gauges): void {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  const all: readonly [name: string, help: string, read: () => number][] = [
    ['tributary_calls_in_flight', 'Metered calls in progress.', gauges.callsInFlight],
    ['tributary_settlements_pending', 'Ledger operations waiting.', gauges.settlementsPending],
    ['tributary_channels_cooling_down', 'Channels in cooldown.', gauges.channelsCoolingDown],
    ['tributary_live_processes', 'Processes with a lease on this database.', gauges.liveOwners],
    ['tributary_loop_delay_p99_seconds', 'Event loop delay.', () => delay.percentile(99) / 1e9],
  ]
  for (const [name, help, read] of all) {
    new Gauge({
      name,
      help,
      // Of several workers, each knows all processes, and the slowest loop counts.
      aggregator: OF_ONE_WORKER.test(name) ? 'max' : 'sum',
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  }
}

function addDatabaseGauges(registry: Registry, read: Gauges['readDatabase']): void {
  const figures = createReader(read)
  const gauge = (name: string, help: string, set: (found: DatabaseFigures, to: Gauge) => void) =>
    new Gauge({
      name,
      help,
      labelNames: name.includes('queue') ? ['queue'] : ['state'],
      // Each worker reads the same figures.
      aggregator: 'max',
      registers: [registry],
      async collect() {
        const found = await figures()
        if (found) set(found, this)
        else this.reset()
      },
    })
  const eachQueue = (value: (row: QueueRow) => number) => (found: DatabaseFigures, to: Gauge) => {
    for (const queue of QUEUES) {
      const row = found.queues.find((one) => one.queue === queue)
      to.set({ queue }, row ? value(row) : 0)
    }
  }
  gauge(
    'tributary_queue_open',
    'Tasks, webhooks and copies that have not ended, of all gateways.',
    eachQueue(({ open }) => open),
  )
  gauge(
    'tributary_queue_due',
    'The part that is due and that no process has taken.',
    eachQueue(({ due }) => due),
  )
  gauge(
    'tributary_queue_due_seconds',
    'How long the oldest of these has been due.',
    eachQueue(({ due_seconds: seconds }) => seconds),
  )
  gauge(
    'tributary_database_connections',
    'Connections of all gateways to the database.',
    ({ connections }, to) => {
      for (const state of STATES) {
        const row = connections.find((one) => one.state === state)
        to.set({ state }, row?.connections ?? 0)
      }
    },
  )
}

/** Shares one read among all gauges; resolves to undefined if the database does not answer. */
function createReader(read: Gauges['readDatabase']) {
  let readAt = -FRESH_MS
  let running: Promise<DatabaseFigures | undefined> = Promise.resolve(undefined)
  return () => {
    if (performance.now() - readAt < FRESH_MS) return running
    readAt = performance.now()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, READ_MS, undefined)
    })
    const found = read().catch(() => undefined)
    running = Promise.race([found, late]).finally(() => clearTimeout(timer))
    return running
  }
}
