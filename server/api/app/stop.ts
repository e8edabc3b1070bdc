/**
 * Stops a gateway in order: readiness and tasks, new connections, running calls, their settlements,
 * then everything else.
 */
import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { OpenedDatabase } from '../../base/database/open.ts'
import type { Drain, Entrance } from '../../base/http/drain.ts'
import type { Log } from '../../base/lib/log.ts'
import type { Telemetry } from '../../base/tracing/sdk.ts'
import type { Accounts } from '../../money/accounts/identify.ts'
import type { Catalog } from '../../money/catalog/load/snapshot.ts'
import type { Sweeper } from '../../money/ledger/leases/sweeper.ts'
import type { Ledger } from '../../money/ledger/ledger.ts'
import type { InFlight } from '../../work/pipeline/load/in-flight.ts'
import type { Services } from '../../work/pipeline/services.ts'
import type { Worker } from '../../work/tasks/poll/worker.ts'
import type { Tasks } from '../../work/tasks/tasks.ts'
import type { Live } from '../admin/live/live.ts'
import type { BackgroundWorkers } from './background-workers.ts'
import type { Demo } from './demo.ts'
import type { LoopWatch } from './open-telemetry.ts'
import type { Readiness } from './ready.ts'
import type { StorageWatch } from './watch-storage.ts'

/** For aborted calls to settle: counting the text of their answers takes up to three seconds. */
const ABORT_MS = 8_000
/** For polls of vendors: the process that takes over their leases repeats them. */
const SETTLE_WAIT_MS = 5_000
/** For the last bytes of the last responses to leave. */
const LAST_BYTES_MS = 500
/** For a part that settles nothing: the slowest receiver of a webhook has answered. */
const PART_MS = 30_000

interface Parts {
  readonly drainMs: number
  readonly server: Server
  readonly drain: Drain
  readonly entrance: Entrance
  readonly readiness: Readiness
  readonly storage: StorageWatch
  readonly loopWatch: LoopWatch
  readonly inFlight: InFlight
  readonly ledger: Ledger
  readonly metricsServer: Server | undefined
  readonly dispatcher: Dispatcher
  readonly demo: Demo | undefined
  readonly live: Live
  readonly accounts: Accounts
  readonly catalog: Catalog
  readonly services: Pick<Services, 'spending' | 'takenOut'>
  readonly sweeper: Sweeper
  readonly tasks: Tasks
  readonly worker: Worker | undefined
  readonly backgroundWorkers: BackgroundWorkers | undefined
  readonly telemetry: Telemetry | undefined
  readonly database: OpenedDatabase
  readonly log: Log
}

export interface StopOptions {
  /** Time for running calls to finish. */
  readonly drainMs?: number
  /** Time for which connections are accepted while readiness sends traffic elsewhere. */
  readonly delayMs?: number
}

export type Stop = (options?: StopOptions) => Promise<void>

/** Returns a function that drains, settles everything, and closes. */
export function createStop(parts: Parts): Stop {
  const { server, drain, inFlight, ledger, log } = parts
  const ended = (part: string, work: Promise<unknown> | undefined) => untilEnded(part, work, log)
  return async ({ drainMs = parts.drainMs, delayMs = 0 } = {}) => {
    parts.readiness.stopping()
    log.info({}, 'stopping')
    const senderStopped = stopSending(parts.backgroundWorkers)
    const workerStopped = parts.worker?.stop()
    drain.closeAfterResponses()
    if (delayMs > 0) await sleep(delayMs)
    parts.live.stop()
    const closed = once(server, 'close')
    await parts.entrance.close()
    // A proxy uses the connections that it has kept; each ends with its next response. Calls are
    // awaited afterwards, since one may have begun on the last of them.
    const drainedBy = performance.now() + drainMs
    await drain.unused(Math.min(delayMs, drainMs))
    server.closeIdleConnections()
    const leftMs = Math.max(0, drainedBy - performance.now())
    await Promise.all([inFlight.drained(leftMs), drain.idle(leftMs)])
    parts.readiness.refuseWork()
    server.closeIdleConnections()
    inFlight.abortAll('stopping')
    await inFlight.drained(ABORT_MS)
    await Promise.race([workerStopped, sleep(SETTLE_WAIT_MS, undefined, { ref: false })])
    const { copier, housekeeping, labelIndexes, rollup, sealer } = parts.backgroundWorkers ?? {}
    await Promise.all([
      ended('the copier of files', copier?.stop()),
      ended('housekeeping', housekeeping?.stop()),
      ended('indexes of labels', labelIndexes?.stop()),
      ended('counting calls', rollup?.stop()),
      ended('sealing entries', sealer?.stop()),
    ])
    await ledger.stop()
    setTimeout(() => drain.closeAll(), LAST_BYTES_MS).unref()
    await ended('open connections', closed)
    parts.readiness.stop()
    parts.storage.stop()
    parts.loopWatch.stop()
    parts.metricsServer?.close()
    await ended('connections to vendors', parts.dispatcher.destroy())
    await endDemo(parts)
    parts.services.spending.stop()
    const { accounts, catalog, services, sweeper } = parts
    await ended('accounts and catalog', Promise.all([accounts.stop(), catalog.stop()]))
    await ended('the record of removed tools', services.takenOut.stop())
    await ended('webhooks and mails', senderStopped)
    await ended(
      'the lease',
      sweeper.stop().catch(() => undefined),
    )
    await parts.database.stop()
    log.info({}, 'stopped')
    await parts.telemetry?.stop()
  }
}

/** Waits for a part, and after half a minute logs it and goes on. Rejects as the part does. */
async function untilEnded(
  part: string,
  work: Promise<unknown> | undefined,
  log: Log,
): Promise<void> {
  const late = sleep(PART_MS, 'late' as const, { ref: false })
  if ((await Promise.race([work, late])) === 'late')
    log.warn({}, `stopping without the end of ${part}`)
}

/** Keeps the demo's simulators running while tasks are open, as real vendors would. */
async function endDemo({ demo, tasks, log }: Parts): Promise<void> {
  if (!demo) return
  const waits = await tasks.hasOpenTasks().catch(() => false)
  if (waits) log.info({}, 'tasks are open: the simulated vendors stay for five minutes')
  else await demo.stop()
}

/** Lets attempts that have begun end: their outcome has to be recorded. */
async function stopSending(workers: BackgroundWorkers | undefined): Promise<void> {
  if (!workers) return
  const { dispatcher, mailSender, sender } = workers
  await Promise.all([sender.stop(), mailSender?.stop(), dispatcher.stop()])
}
