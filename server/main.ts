/** The wiring: config → database → ledger → pipeline → http. The only file that knows all parts. */

import cluster from 'node:cluster'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { createAdminEndpoints } from './api/admin/endpoints.ts'
import { createLive } from './api/admin/live/live.ts'
import { startBackgroundWorkers } from './api/app/background-workers.ts'
import type { Demo } from './api/app/demo.ts'
import { createGatewayListener } from './api/app/gateway-listener.ts'
import { createLog } from './api/app/log.ts'
import { openCallbacks } from './api/app/open-callbacks.ts'
import { openCore } from './api/app/open-core.ts'
import { maybeDemo } from './api/app/open-demo.ts'
import { openOwnDatabase } from './api/app/open-own-database.ts'
import { openSignIn } from './api/app/open-sign-in.ts'
import { openTasks } from './api/app/open-tasks.ts'
import { openLoopWatch, openMetrics, openTelemetry } from './api/app/open-telemetry.ts'
import { createStop, type Stop } from './api/app/stop.ts'
import { type Config, showConfig } from './api/config/config.ts'
import { tellOfLittleMemory } from './api/config/memory-default.ts'
import { openSecretBox } from './api/config/secret-key-file.ts'
import type { PlainServices } from './api/endpoints/endpoint.ts'
import { listEndpoints } from './api/endpoints/index.ts'
import { rehearseCalls } from './api/endpoints/service/rehearse-calls.ts'
import { warmUp } from './api/endpoints/service/warm-up.ts'
import { createSockets } from './api/endpoints/sockets.ts'
import type { Sessions } from './api/sign-in/sessions/session.ts'
import { inBackground } from './base/database/connection/client.ts'
import { migrate, watchCompatibility } from './base/database/migrations/migrate.ts'
import type { OpenedDatabase } from './base/database/open.ts'
import { isOwnEnd } from './base/database/unavailable.ts'
import { type Entrance, openEntrance, watchDrain } from './base/http/drain.ts'
import { createHttpServer } from './base/http/server.ts'
import { newId } from './base/lib/ids.ts'
import type { Log } from './base/lib/log.ts'
import { explainListening } from './base/lib/process/explain-listening.ts'
import type { Telemetry } from './base/tracing/sdk.ts'
import { tellOfFewFiles } from './base/workers/open-files.ts'
import { takeConnections } from './base/workers/take-connections.ts'
import { rehearseMoves } from './money/ledger/posting/rehearse.ts'
import { openRehearsalLedger } from './money/ledger/rehearsal-ledger.ts'
import { createUsageReader } from './money/usage/usage.ts'
import type { Services } from './work/pipeline/services.ts'
import type { Worker } from './work/tasks/poll/worker.ts'
import { createWebhooks } from './work/webhooks/webhooks.ts'

const MIGRATIONS = join(import.meta.dirname, '..', 'migrations')

export interface Gateway {
  readonly url: string
  readonly port: number
  readonly demo: Demo | undefined
  /** The link that creates the first operator; undefined if one exists. */
  readonly setUpLink: string | undefined
  /** Reads the catalog now instead of within seconds. */
  refreshCatalog(): Promise<void>
  readonly stop: Stop
}

/**
 * Starts a gateway. Throws OperatorError or DatabaseProblem with what to do. `sessions` stand in
 * for people's sign-ins in tests.
 */
export async function serve(
  config: Config,
  sessions?: Sessions,
  opening = openOwnDatabase(config),
): Promise<Gateway> {
  const telemetry = await openTelemetry(config)
  const log = createLog(config.log, telemetry?.send)
  // Of the workers of one machine, their supervisor tells it.
  if (!cluster.isWorker) {
    tellOfFewFiles(config, log)
    tellOfLittleMemory(config, log)
  }
  const database = await opening
  try {
    await migrateDatabase(database, log)
    return await assemble(config, database, { log, telemetry, sessions })
  } catch (error) {
    await telemetry?.stop()
    await database.stop()
    throw error
  }
}

interface StartOptions {
  readonly log: Log
  readonly telemetry: Telemetry | undefined
  readonly sessions: Sessions | undefined
}

async function assemble(config: Config, database: OpenedDatabase, options: StartOptions) {
  const { log, sessions, telemetry } = options
  const { sql, pagesSql } = database
  const secrets = openSecretBox(config)
  const ownerId = newId('own')
  let worker: Worker | undefined
  const onBroken = () => void worker?.stop()
  const schema = watchCompatibility(sql, MIGRATIONS)
  const core = await openCore({ config, database, schema, secrets, ownerId, log, onBroken })
  const { guard } = core.outbound
  const port = () => entrance.port
  const callbackAddresses = openCallbacks(config, secrets, port)
  const tasks = openTasks({ ...core, config, sql, secrets, guard, callbackAddresses })
  const services: PlainServices = {
    ...core.services,
    tasks,
    callbackAddresses,
    files: core.assets.files,
    library: core.assets.library,
    usage: createUsageReader(sql),
    guard,
    webhooks: createWebhooks(sql, secrets),
    notReady: async () => core.readiness.reason(),
    publicUrl: config.publicUrl,
    sockets: createSockets(),
    endpoints: () => endpoints,
  }
  const pages = { sql: pagesSql, secrets, accounts: core.accounts }
  const openedSignIn = openSignIn({ ...pages, config, sessions, port, guard })
  const live = createLive({ sql, log })
  const { catalog } = core
  const system = systemOf(config, ownerId, core.storage.isShared)
  const admin = { ...services, ...pages, catalog, signIn: openedSignIn.signIn, live, system }
  const endpoints = [...listEndpoints(config.site), ...createAdminEndpoints(admin)]
  telemetry?.onDropped(core.metrics.untraced)
  const gate = createGatewayServer(services, config, telemetry, openedSignIn.signIn.parts)
  const warm = config.role !== 'worker' && config.warmsUp ? rehearse(sql, services, log) : undefined
  const entrance = await openPort(gate.server, config)
  const metricsServer = await openMetrics(config, core.metrics.registry, log)
  const place = { url: toUrl(config.host, port()), port: port() }
  const parts = { ...core, ...place, config, database, secrets, openedSignIn, log }
  const demo = await maybeDemo({ ...parts, callbackAddresses })
  const setUpLink = await openedSignIn.offerSetUp(log)
  await openedSignIn.judgeSignUp(log)
  const background = { sql: inBackground(sql), database, config, secrets, guard, log }
  const backgroundWorkers = startBackgroundWorkers({ ...core, ...background })
  await warm
  await core.readiness.begin()
  worker = backgroundWorkers && tasks.startWorker()
  log.info({ address: place.url, pid: process.pid, owner_id: ownerId }, 'listening')
  const stop = createStop({
    ...core,
    loopWatch: openLoopWatch(log, core.metrics),
    drainMs: config.drainMs,
    ...gate,
    entrance,
    metricsServer,
    demo,
    live,
    backgroundWorkers,
    database,
    tasks,
    worker,
    telemetry,
    log,
  })
  return { ...place, demo, setUpLink, refreshCatalog: core.catalog.refresh, stop }
}

function rehearse(sql: OpenedDatabase['sql'], services: Services, log: Log): Promise<void> {
  return warmUp({
    sql,
    rehearseMoves: () => rehearseMoves(sql),
    rehearseCalls: () => rehearseCalls(services, openRehearsalLedger()),
    isOwnEnd,
    log,
  })
}

async function migrateDatabase({ sql }: OpenedDatabase, log: Log): Promise<void> {
  const onWaiting = (message: string) => log.warn({}, message)
  const { newer } = await migrate(sql, MIGRATIONS, { onWaiting })
  if (newer.length === 0) return
  log.warn({ reason: newer.join(' ') }, 'the database is of a newer, compatible version')
}

function createGatewayServer(
  services: PlainServices,
  config: Config,
  telemetry: Telemetry | undefined,
  signIn: Parameters<typeof createGatewayListener>[3],
) {
  const listener = createGatewayListener(services, config, telemetry, signIn)
  const server = createHttpServer(config.server, listener)
  services.sockets.serve(server)
  return { server, listener, drain: watchDrain(server, services.sockets) }
}

function systemOf({ site, topUpSecret }: Config, ownerId: string, areFilesShared: () => boolean) {
  return { ownerId, site, topUpSecret, areFilesShared, describeConfiguration: showConfig }
}

function toUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** A worker takes connections from its supervisor, which listens on `config.port`. */
async function openPort(server: Server, config: Config): Promise<Entrance> {
  if (cluster.isWorker) return takeConnections(server, config.port)
  try {
    return await openEntrance(server, config)
  } catch (error) {
    throw explainListening(error, config, { host: 'HOST', port: 'PORT' })
  }
}
