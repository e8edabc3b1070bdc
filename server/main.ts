/** The only wiring: config → database → ledger → pipeline → http. Nothing else knows all parts. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { Agent, type Dispatcher } from 'undici'
import { createAccounts } from './accounts/identify.ts'
import { createAdminEndpoints } from './admin/endpoints.ts'
import { createLive } from './admin/live/live.ts'
import { accountFor } from './app/access-log.ts'
import { startCrew } from './app/background-workers.ts'
import { type Demo, demoLines, startDemo } from './app/demo.ts'
import { createLog } from './app/log.ts'
import { createMetrics, type Metrics, serveMetrics } from './app/metrics.ts'
import { type OpenedHooks, openHooks } from './app/open-callbacks.ts'
import { openLedger } from './app/open-ledger.ts'
import { type Door, openSignIn } from './app/open-sign-in.ts'
import { type Readiness, watchReadiness } from './app/ready.ts'
import { createStop } from './app/stop.ts'
import { type Assets, openAssets } from './assets/assets.ts'
import { addToLibrary } from './assets/library/library.ts'
import { openStorage } from './assets/storage/open-storage.ts'
import { createForms } from './assets/uploads/forms.ts'
import { createSpool } from './assets/uploads/spool.ts'
import { createChannelVersions } from './catalog/load/channel-versions.ts'
import { createCatalog } from './catalog/load/snapshot.ts'
import { type Config, showConfig } from './config/config.ts'
import { openSecretBox } from './config/secret-key-file.ts'
import { createConsoleEndpoints } from './console/serve.ts'
import { refuseWhenFull } from './database/embedded/disk.ts'
import { migrate } from './database/migrations/migrate.ts'
import { type OpenedDatabase, openDatabase } from './database/open.ts'
import { DatabaseProblem } from './database/problem.ts'
import { isUnavailable } from './database/unavailable.ts'
import type { Endpoint, PlainServices } from './endpoints/endpoint.ts'
import { listEndpoints, SUBMISSIONS } from './endpoints/index.ts'
import { runEndpoint } from './endpoints/run-endpoint.ts'
import { upstreamHook } from './endpoints/service/vendor-callback.ts'
import { createListener } from './http/listener.ts'
import { createRoutes } from './http/router.ts'
import { createHttpServer } from './http/server.ts'
import type { Continuity } from './ledger/leases/continuity.ts'
import type { Ledger } from './ledger/ledger.ts'
import { GatewayError } from './lib/errors.ts'
import { newId } from './lib/ids.ts'
import type { Log } from './lib/log.ts'
import type { SecretBox } from './lib/secrets/secrets.ts'
import type { Allowance } from './outbound/address.ts'
import { createGuard, type Guard } from './outbound/guard.ts'
import { measureUrl } from './outbound/measure.ts'
import { sendTraces } from './outbound/send-traces.ts'
import { createLimiter } from './pipeline/admission/limiter.ts'
import type { InFlight } from './pipeline/in-flight.ts'
import { type ChannelHealth, createChannelHealth } from './pipeline/send/channel-health.ts'
import { maskCredentials } from './pipeline/send/mask-credentials.ts'
import { createRetryBudget } from './pipeline/send/retry-budget.ts'
import type { Services } from './pipeline/services.ts'
import type { Sessions } from './sign-in/sessions/session.ts'
import type { Worker } from './tasks/poll/worker.ts'
import { createTasks } from './tasks/tasks.ts'
import { createTracer, type Tracer } from './tracing/tracer.ts'
import { UPSTREAMS } from './upstreams/index.ts'
import { createStoredAnswers } from './usage/stored-answers.ts'
import { createUsageReader } from './usage/usage.ts'
import { enqueueDelivery } from './webhooks/enqueue.ts'
import { listCallbackAttempts, readCallback } from './webhooks/store.ts'
import { createWebhooks } from './webhooks/webhooks.ts'

const MIGRATIONS = join(import.meta.dirname, '..', 'migrations')

export interface Gateway {
  readonly url: string
  readonly port: number
  readonly demo: Demo | undefined
  /** Makes the first operator; undefined when there is one. */
  readonly setUpLink: string | undefined
  /** Reads the catalog now instead of within seconds. */
  refreshCatalog(): Promise<void>
  /** Drains for at most `drainMs`, settles everything, and closes. */
  stop(drainMs?: number): Promise<void>
}

/**
 * Starts a gateway. Throws OperatorError or DatabaseProblem with what to do. `sessions` stand in
 * for people's sign-ins in tests.
 */
export async function serve(config: Config, sessions?: Sessions): Promise<Gateway> {
  const log = createLog(config.log)
  if (config.valkeyUrl !== undefined) {
    log.warn({}, 'VALKEY_URL is not used yet: each gateway takes its part of a rate limit')
  }
  const database = await openDatabase({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    owner: true,
    onProgress: (message) => log.info({}, message),
    onTrouble: (error, message) => log.error({ error }, message),
  })
  try {
    return await assemble(config, database, { log, sessions })
  } catch (error) {
    await database.stop()
    throw error
  }
}

interface Given {
  readonly log: Log
  readonly sessions: Sessions | undefined
}

async function assemble(config: Config, database: OpenedDatabase, { log, sessions }: Given) {
  const { sql, pagesSql } = database
  await migrate(sql, MIGRATIONS)
  const secrets = openSecretBox(config)
  const ownerId = newId('own')
  let worker: Worker | undefined
  const { ledger, sweeper, continuity, inFlight } = await openLedger({
    ...{ config, database, ownerId, log },
    onSurprise: (operation, verdict) => metrics.ledgerSurprise(operation, verdict),
    onBroken: () => void worker?.stop(),
  })
  const { settings, accounts, catalog } = await openCatalog(sql, secrets, log)
  const readiness = openReadiness(config, database, continuity, log)
  const health = createChannelHealth(() => performance.now())
  const metrics = openMeters(inFlight, ledger, health)
  const dispatcher = createDispatcher(config)
  const outbound = openGuard(config)
  const { guard } = outbound
  const assets = openMedia({ config, sql, guard, log })
  const core: Services = {
    ...{ accounts, catalog, ledger, dispatcher, health, inFlight, metrics, log },
    limits: { ...config.pipeline, ...config.bodies },
    upstreams: UPSTREAMS,
    limiter: createLimiter({ nowMs: () => performance.now(), shares: sweeper.liveOwners }),
    retries: createRetryBudget(),
    refusesWork: readiness.refusesWork,
    storedAnswers: createStoredAnswers(sql),
    forms: createForms(createSpool(join(config.dataDir, 'spool')), assets.lend),
  }
  const hooks = openHooks(config, secrets, () => readPort(server))
  const tasks = openTasks({ config, sql, secrets, services: core, guard, assets, hooks })
  const services: PlainServices = {
    ...core,
    ...{ tasks, hooks },
    files: assets.files,
    library: assets.library,
    usage: createUsageReader(sql),
    guard,
    webhooks: createWebhooks(sql, secrets),
    notReady: async () => readiness.reason(),
    publicUrl: config.publicUrl,
    endpoints: () => endpoints,
  }
  const asked = { sql: pagesSql, secrets }
  const door = openSignIn({ config, ...asked, sessions, port: () => readPort(server) })
  const tracer = openTracer(config, dispatcher, { metrics, log })
  const live = createLive({ sql, log })
  const system = systemOf(config, ownerId)
  const admin = { ...services, ...asked, catalog, signIn: door.signIn, live, system }
  const endpoints = [...listEndpoints(config.site), ...createAdminEndpoints(admin)]
  const server = createHttpServer(config.server, createGatewayListener(services, config, tracer))
  await listen(server, config)
  const port = readPort(server)
  const url = toUrl(config.host, port)
  const metricsServer = await openMetrics(config, metrics.registry, log)
  const about = { config, database, secrets, settings, catalog, url, port, door, outbound, hooks }
  const demo = await maybeDemo(about)
  const setUpLink = await door.offerSetUp()
  const crew = startCrew({ config, sql, assets, secrets, guard, metrics, log })
  await readiness.begin()
  worker = config.role === 'api' ? undefined : tasks.work()
  log.info({ address: url, pid: process.pid, owner_id: ownerId }, 'listening')

  const stop = createStop({
    drainMs: config.drainMs,
    ...{ server, readiness, inFlight, ledger, metricsServer, dispatcher, demo },
    ...{ live, accounts, catalog, sweeper, crew, database, tasks, worker, tracer, log },
  })
  return { url, port, demo, setUpLink, refreshCatalog: catalog.refresh, stop }
}

/** Who may call, and what there is to be called. */
async function openCatalog(sql: OpenedDatabase['sql'], secrets: SecretBox, log: Log) {
  const settings = Object.fromEntries(UPSTREAMS)
  const catalog = await createCatalog({ sql, upstreams: settings, secrets, log })
  return { settings, accounts: createAccounts({ sql, log }), catalog }
}

function systemOf({ site, topUpSecret }: Config, ownerId: string) {
  return { ownerId, site, topUpSecret, describeConfiguration: showConfig }
}

function toUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function openReadiness(
  config: Config,
  database: OpenedDatabase,
  { broken }: Continuity,
  log: Log,
): Readiness {
  const sole = database.kind === 'embedded'
  const disk = async () => (sole ? await refuseWhenFull(config.dataDir) : undefined)
  return watchReadiness({ database: database.probe, disk, broken }, log)
}

/** Whether this is a demo, whose callers may name this machine, is known after the start. */
function openGuard(config: Config) {
  const ports = new Set(config.targetPorts)
  let allowance: Allowance = config.allowPrivateTargets ? 'private' : 'public'
  return {
    guard: createGuard({ policy: () => ({ allowance, ports }) }),
    allowLoopback() {
      if (allowance === 'public') allowance = 'loopback'
    },
  }
}

function createDispatcher(config: Config): Dispatcher {
  const agent = new Agent({
    connect: { timeout: config.upstream.connectTimeoutMs },
    connections: config.upstream.connectionsMax,
    keepAliveTimeout: 30_000,
    keepAliveMaxTimeout: 60_000,
    pipelining: 1,
  })
  return agent.compose(maskCredentials)
}

function openMedia(parts: {
  readonly config: Config
  readonly sql: OpenedDatabase['sql']
  readonly guard: Guard
  readonly log: Log
}): Assets {
  const { config, ...rest } = parts
  const { publicUrl, storage } = config
  return openAssets({ ...rest, publicUrl, storage: openStorage(config), ...storage })
}

/** The task engine with what it needs of the parts it does not know. */
function openTasks(parts: {
  readonly config: Config
  readonly sql: OpenedDatabase['sql']
  readonly secrets: SecretBox
  readonly services: Services
  readonly guard: Guard
  readonly assets: Assets
  readonly hooks: OpenedHooks
}) {
  const { config, sql, secrets, services, guard, assets, hooks } = parts
  const upstreams = Object.fromEntries(UPSTREAMS)
  return createTasks({
    sql,
    services,
    channels: createChannelVersions({ sql, upstreams, secrets }),
    submissions: SUBMISSIONS,
    ports: {
      enqueueDelivery,
      judgeUrl: guard.checkUrl,
      measureUrl: async (url) => (await assets.measureOwn(url)) ?? measureUrl(guard, url),
      hookUrl: hooks.urlOf,
      callbackState: (taskId) => readCallback(sql, taskId),
      callbackAttempts: (taskId) => listCallbackAttempts(sql, taskId),
      keepContent: assets.keeper.keep,
      discard: assets.keeper.discard,
      async onSucceeded(transaction, task, kept) {
        await addToLibrary(transaction, task)
        for (const one of kept) await assets.keeper.adopt(transaction, task.id, one)
      },
    },
    times: config.tasks,
    slots: { callsPerChannel: config.taskCallsPerChannel },
  })
}

function isOfWorkers(kind: Endpoint['kind'], documentation: Endpoint['documentation']): boolean {
  return kind === 'plain' && documentation.credential === undefined
}

/** Whatever was asked: without a database the answer is later, not an error of the gateway's. */
function tellWhenAway(error: unknown): never {
  if (error instanceof GatewayError || !isUnavailable(error)) throw error
  throw new GatewayError('unavailable', { retryAfterSeconds: 2, cause: error })
}

/** A process that only works answers nothing but its health. */
function createGatewayListener(
  services: PlainServices,
  { role, publicUrl }: Config,
  tracer: Tracer | undefined,
) {
  const documented = services
    .endpoints()
    .filter(({ kind, documentation }) => role !== 'worker' || isOfWorkers(kind, documentation))
  // Pages for people and addresses for vendors stand in no reference.
  const others = [...createConsoleEndpoints({ publicUrl }), upstreamHook]
  const offered: readonly Endpoint[] = role === 'worker' ? documented : [...documented, ...others]
  const match = createRoutes<Endpoint>(
    offered.flatMap((endpoint) =>
      endpoint.paths.map((path) => ({ method: endpoint.method, path, target: endpoint })),
    ),
  )
  return createListener<Endpoint>({
    match,
    envelopeOf: (endpoint) => endpoint.envelope,
    run: (endpoint, context) => runEndpoint(endpoint, context, services).catch(tellWhenAway),
    done(context, error) {
      accountFor(context, error, services)
      tracer?.note(context)
    },
  })
}

function openTracer(
  { otlpEndpoint }: Config,
  dispatcher: Dispatcher,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
): Tracer | undefined {
  if (otlpEndpoint === undefined) return undefined
  const send = (body: Buffer) => sendTraces(dispatcher, otlpEndpoint, body)
  return createTracer({ send, dropped: metrics.untraced, log })
}

async function listen(server: Server, config: Config): Promise<void> {
  try {
    server.listen(config.port, config.host, 4096)
    await once(server, 'listening')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
      throw new DatabaseProblem(
        `port ${config.port} on ${config.host} is taken: stop what listens there or set PORT`,
        error,
      )
    }
    throw error
  }
}

function readPort(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function openMeters(inFlight: InFlight, ledger: Ledger, health: ChannelHealth) {
  return createMetrics({
    callsInFlight: inFlight.size,
    settlementsPending: ledger.pending,
    channelsResting: () => health.resting().length,
  })
}

async function openMetrics(
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

/** Demo mode is for an embedded database without a channel, or with the simulators' own. */
async function maybeDemo(parts: {
  readonly config: Config
  readonly database: OpenedDatabase
  readonly secrets: SecretBox
  readonly settings: Record<string, NonNullable<ReturnType<typeof UPSTREAMS.get>>>
  readonly catalog: Awaited<ReturnType<typeof createCatalog>>
  readonly url: string
  readonly port: number
  readonly door: Door
  readonly outbound: ReturnType<typeof openGuard>
  readonly hooks: OpenedHooks
}): Promise<Demo | undefined> {
  const { config, database, catalog } = parts
  if (database.kind !== 'embedded') return undefined
  const channels = [...catalog.snapshot().channels.keys()]
  if (channels.some((id) => !id.startsWith('sim-'))) return undefined
  const demo = await startDemo({
    sql: database.sql,
    upstreams: parts.settings,
    secrets: parts.secrets,
    dataDir: config.dataDir,
    baseUrl: parts.url,
    signIn: parts.door.signIn,
    simulatorsPort: parts.port + 1,
  })
  parts.door.markDemo()
  parts.outbound.allowLoopback()
  parts.hooks.markDemo()
  await catalog.refresh()
  if (config.log.level !== 'silent') {
    console.log(demoLines(demo.file).join('\n'))
  }
  return demo
}
