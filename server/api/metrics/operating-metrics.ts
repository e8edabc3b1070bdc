/**
 * Metrics that are read at each scrape: queues and connections from the database, at most every
 * few seconds however many scrapes arrive, and gauges of the process.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, type Registry } from 'prom-client'
import type { ConnectionRow, FailingPollsRow, QueueRow } from '../../money/usage/operating-store.ts'

export interface Gauges {
  readonly callsInFlight: () => number
  /** True while this process should get traffic. */
  readonly isReady: () => boolean
  readonly settlementsPending: () => number
  readonly unknownJournals: () => number
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
  readonly failingPolls: readonly FailingPollsRow[]
  readonly droppedWebhooks: number
  readonly commandSuccesses: readonly { readonly command: string; readonly succeeded_at: number }[]
}

/** Values from the database are read again after this time. */
const FRESH_MS = 5_000
/** A scrape waits at most this long for the database: less than a supervisor for its workers. */
const READ_MS = 500
/** Older values are not shown, so that an alert finds them absent. */
const STALE_MS = 20_000

const QUEUES = ['tasks', 'webhooks', 'mails', 'copies'] as const
const STATES = ['active', 'idle', 'in_transaction'] as const

export function addGauges(registry: Registry, gauges: Gauges): void {
  addReadiness(registry, gauges.isReady)
  addProcessGauges(registry, gauges)
  addDatabaseGauges(registry, gauges.readDatabase)
  new Gauge({
    name: 'tributary_channel_spending_ratio',
    help: 'Spending of a channel as a fraction of its cap; at 1 the cap is reached.',
    labelNames: ['channel', 'period'],
    // Each worker reads the same values.
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

function addReadiness(registry: Registry, isReady: () => boolean): void {
  new Gauge({
    name: 'tributary_ready',
    help: '1 while this process should get traffic, as /readyz says; else 0.',
    // Any of several workers behind one port may get the next call.
    aggregator: 'min',
    registers: [registry],
    collect() {
      this.set(isReady() ? 1 : 0)
    },
  })
}

const OF_ONE_WORKER = /live_processes|loop_delay|journals_unknown/

function addProcessGauges(registry: Registry, gauges: Gauges): void {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  const all: readonly [name: string, help: string, read: () => number][] = [
    ['tributary_calls_in_flight', 'Metered calls in progress.', gauges.callsInFlight],
    ['tributary_settlements_pending', 'Ledger operations that wait.', gauges.settlementsPending],
    ['tributary_journals_unknown', 'Journals set aside as .unknown.', gauges.unknownJournals],
    ['tributary_channels_cooling_down', 'Channels in cooldown.', gauges.channelsCoolingDown],
    ['tributary_live_processes', 'Processes with a lease on this database.', gauges.liveOwners],
    [
      'tributary_loop_delay_p99_seconds',
      'Event loop delay (p99).',
      () => delay.percentile(99) / 1e9,
    ],
  ]
  for (const [name, help, read] of all) {
    new Gauge({
      name,
      help,
      // Every worker knows all processes and journals, and the slowest event loop counts.
      aggregator: OF_ONE_WORKER.test(name) ? 'max' : 'sum',
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  }
}

type AddGauge = (
  label: string,
  name: string,
  help: string,
  set: (found: DatabaseFigures, to: Gauge) => void,
) => void

function addDatabaseGauges(registry: Registry, read: Gauges['readDatabase']): void {
  const figures = createReader(read)
  const gauge: AddGauge = (label, name, help, set) => {
    new Gauge({
      name,
      help,
      labelNames: [label],
      // Each worker reads the same values.
      aggregator: 'max',
      registers: [registry],
      async collect() {
        const found = await figures()
        if (found) set(found, this)
        else this.reset()
      },
    })
  }
  addQueueGauges(gauge)
  gauge(
    'channel',
    'tributary_tasks_polls_failing',
    'Open tasks whose last five or more polls have failed.',
    ({ failingPolls }, to) => {
      to.reset()
      for (const { channel, tasks } of failingPolls) to.set({ channel }, tasks)
    },
  )
  gauge(
    'command',
    'tributary_command_success_timestamp_seconds',
    'When audit, backup and archive create last succeeded; absent before the first time.',
    ({ commandSuccesses }, to) => {
      to.reset()
      for (const { command, succeeded_at: at } of commandSuccesses) to.set({ command }, at)
    },
  )
  gauge(
    'state',
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

function addQueueGauges(gauge: AddGauge): void {
  const eachQueue = (value: (row: QueueRow) => number) => (found: DatabaseFigures, to: Gauge) => {
    for (const queue of QUEUES) {
      const row = found.queues.find((one) => one.queue === queue)
      to.set({ queue }, row ? value(row) : 0)
    }
  }
  gauge(
    'queue',
    'tributary_queue_open',
    'Tasks, webhooks, mails and copies that have not ended, of all gateways.',
    eachQueue(({ open }) => open),
  )
  gauge(
    'queue',
    'tributary_queue_due',
    'Entries of the queue that are due and that no process has taken.',
    eachQueue(({ due }) => due),
  )
  gauge(
    'queue',
    'tributary_queue_due_seconds',
    'How long the oldest of these entries has been due.',
    eachQueue(({ due_seconds: seconds }) => seconds),
  )
  gauge(
    'queue',
    'tributary_queue_dropped',
    'Webhooks that were dropped in the last day and not sent again; counted up to 10,000.',
    ({ droppedWebhooks }, to) => to.set({ queue: 'webhooks' }, droppedWebhooks),
  )
}

/**
 * Shares one read among all gauges. Resolves to what was read last while a read takes longer, and
 * to undefined once that is too old.
 */
function createReader(read: Gauges['readDatabase']) {
  let latest: DatabaseFigures | undefined
  let latestAt = -STALE_MS
  let begunAt = -FRESH_MS
  let running: Promise<void> = Promise.resolve()
  return async () => {
    if (performance.now() - begunAt >= FRESH_MS) {
      begunAt = performance.now()
      running = read().then(
        (found) => {
          latest = found
          latestAt = performance.now()
        },
        () => undefined,
      )
    }
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, READ_MS)
    })
    await Promise.race([running, late])
    clearTimeout(timer)
    return performance.now() - latestAt < STALE_MS ? latest : undefined
  }
}
