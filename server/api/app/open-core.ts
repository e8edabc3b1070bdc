/** Wires the parts that calls run on. */
import { existsSync } from 'node:fs'
import { checkSecretKey } from '../../base/database/check-secret-key.ts'
import { inBackground } from '../../base/database/connection/client.ts'
import { refuseUnwritable, refuseWhenFull } from '../../base/database/embedded/disk.ts'
import type { OpenedDatabase } from '../../base/database/open.ts'
import { isUnavailable } from '../../base/database/unavailable.ts'
import { createAddresses } from '../../base/http/connections/client-address.ts'
import type { Log } from '../../base/lib/log.ts'
import { createMemory, type Memory } from '../../base/lib/memory/memory.ts'
import { createFairSlots } from '../../base/lib/queues/fair-slots.ts'
import type { SecretBox } from '../../base/lib/secrets/secrets.ts'
import { fetchJson } from '../../base/outbound/fetch-json.ts'
import type { Guard } from '../../base/outbound/guard.ts'
import { createAccounts } from '../../money/accounts/identify.ts'
import { catchUpLists } from '../../money/catalog/lists/catch-up.ts'
import { type Catalog, createCatalog } from '../../money/catalog/load/snapshot.ts'
import type { Continuity } from '../../money/ledger/leases/continuity.ts'
import { readChannelSpending } from '../../money/usage/channel-spending-store.ts'
import { createStoredAnswers } from '../../money/usage/stored-answers.ts'
import { createTakenOutCounter } from '../../money/usage/taken-out.ts'
import { UPSTREAMS } from '../../wire/upstreams/index.ts'
import { type Assets, openAssets } from '../../work/assets/assets.ts'
import { findFfmpeg } from '../../work/assets/sound/ffmpeg.ts'
import { checkObjectStore } from '../../work/assets/storage/check-object-store.ts'
import { openStorage } from '../../work/assets/storage/open-storage.ts'
import { createForms } from '../../work/assets/uploads/forms.ts'
import { createSpool } from '../../work/assets/uploads/spool.ts'
import { createChannelHealth } from '../../work/pipeline/load/channel-health.ts'
import { createChannelSpending } from '../../work/pipeline/load/channel-spending.ts'
import { createLimiter } from '../../work/pipeline/load/limiter.ts'
import { createRetryBudget } from '../../work/pipeline/load/retry-budget.ts'
import { createWhileAway } from '../../work/pipeline/request/while-away.ts'
import type { Services } from '../../work/pipeline/services.ts'
import type { Config } from '../config/config.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { openLedger } from './open-ledger.ts'
import { createDispatcher, openGuard } from './open-outbound.ts'
import { openMeters } from './open-telemetry.ts'
import { type Readiness, watchReadiness } from './ready.ts'
import { type StorageWatch, watchStorage } from './watch-storage.ts'

/** Opens the ledger, the catalog, the limits and the connections to upstreams. */
export async function openCore(parts: {
  readonly config: Config
  readonly database: OpenedDatabase
  /** Resolves with the reason why the schema is incompatible, or undefined. */
  readonly schema: () => Promise<string | undefined>
  readonly secrets: SecretBox
  readonly ownerId: string
  readonly log: Log
  /** Called when the database turns out to have lost acknowledged commits. */
  readonly onBroken: () => void
}) {
  const { config, database, secrets, ownerId, log, onBroken } = parts
  const { sql } = database
  const opened = await openLedger({
    config,
    database,
    ownerId,
    log,
    onSurprise: (operation, verdict) => metrics.ledgerSurprise(operation, verdict),
    onBroken,
  })
  const { ledger, sweeper, continuity, inFlight } = opened
  const health = createChannelHealth(() => performance.now())
  const outbound = openGuard(config)
  const reading = { sql, secrets, log, guard: outbound.guard, onWoken: health.succeeded }
  const { settings, accounts, catalog } = await openCatalog(reading)
  const readiness = await openReadiness({ ...parts, continuity, catalog })
  const spending = await openSpending(inBackground(sql), catalog, log)
  const dispatcher = createDispatcher(config)
  const bounds = openBounds(config)
  const { memory } = bounds
  const watched = { ledger, memory, inFlight, health, spending, sweeper, dispatcher, readiness }
  const metrics = openMeters({ config, sql: inBackground(sql), ...watched })
  if (config.objectStore) await checkObjectStore(config.objectStore, log)
  const storage = await watchStorage({ config, sql: inBackground(sql), ownerId, log })
  const assets = await openMedia({ config, sql, outbound, memory, metrics, storage, log })
  const services: Services = {
    accounts,
    catalog,
    ledger,
    dispatcher,
    health,
    spending,
    inFlight,
    metrics,
    log,
    limits: { ...config.pipeline, ...config.bodies },
    upstreams: UPSTREAMS,
    ...openRepeats(config),
    refusesWork: readiness.refusesWork,
    ...openRecords(sql, log),
    ...bounds,
    forms: createForms(createSpool(memory), assets.publishUpload),
  }
  return {
    services,
    accounts,
    catalog,
    settings,
    ledger,
    sweeper,
    inFlight,
    readiness,
    metrics,
    dispatcher,
    outbound,
    assets,
    storage,
  }
}

/** Opens the limits on the calls, bytes and addresses of each account. */
function openBounds({ callsMax, memory, trustedProxies }: Config) {
  const slots = createFairSlots({ slots: callsMax, what: 'calls', retryAfterSeconds: 1 })
  return {
    addresses: createAddresses(trustedProxies),
    limiter: createLimiter(() => performance.now()),
    slots,
    memory: createMemory(memory, () => slots.owners() > 1),
  }
}

/** Opens the limits on retries of a call: at upstreams, and while the database is unavailable. */
function openRepeats({ admitWaitMs }: Config) {
  const whileAway = createWhileAway(admitWaitMs, isUnavailable)
  return { retries: createRetryBudget(), whileAway }
}

/** Opens the store of answers that later calls refer to, and the counter of removed tools. */
function openRecords(sql: OpenedDatabase['sql'], log: Log) {
  const takenOut = createTakenOutCounter({ sql, log, now: () => performance.now() })
  return { storedAnswers: createStoredAnswers(sql), takenOut }
}

/** Opens the cache of API keys and the catalog. */
async function openCatalog({
  sql,
  log,
  guard,
  ...reading
}: {
  readonly sql: OpenedDatabase['sql']
  readonly secrets: SecretBox
  readonly log: Log
  readonly guard: Guard
  readonly onWoken: (channelId: string) => void
}) {
  const settings = Object.fromEntries(UPSTREAMS)
  await catchUpLists(sql, log)
  const own = { sql: inBackground(sql), upstreams: settings, log }
  const catalog = await createCatalog({ ...reading, ...own })
  const tokens = {
    issuers: () => catalog.snapshot().issuers,
    fetchJson: (url: string) => fetchJson(guard, url),
  }
  return { settings, accounts: createAccounts({ sql, log, tokens }), catalog }
}

/** Reads what channels with a spending cap have spent, before the first call. */
async function openSpending(sql: OpenedDatabase['sql'], catalog: Catalog, log: Log) {
  const spending = createChannelSpending({
    channels: () => catalog.snapshot().channels.values(),
    read: (channels) => readChannelSpending(sql, channels),
    log,
  })
  await spending.refresh()
  return spending
}

async function openReadiness(parts: {
  readonly config: Config
  readonly database: OpenedDatabase
  readonly secrets: SecretBox
  readonly continuity: Continuity
  readonly schema: () => Promise<string | undefined>
  readonly catalog: Catalog
  readonly log: Log
}): Promise<Readiness & { readonly keyProblem: string | undefined }> {
  const { config, database, secrets, continuity, schema, catalog, log } = parts
  const isEmbedded = database.kind === 'embedded'
  const disk = async () => (isEmbedded ? await refuseWhenFull(config.dataDir) : undefined)
  // An account that is created only when it is needed may be missing until then.
  const hasFolder = existsSync(config.dataDir)
  const folder = async () => (hasFolder ? await refuseUnwritable(config.dataDir) : undefined)
  const { broken } = continuity
  const keyProblem = await checkSecretKey({ sql: database.sql, secrets, log })
  const unusable = watchChannels(catalog)
  const channels = () => keyProblem ?? unusable()
  const probes = { database: database.probe, schema, disk, folder, broken, channels }
  return { ...watchReadiness(probes, log), keyProblem }
}

/**
 * Returns a function for the reason why this process should get no traffic: a channel that is not
 * paused, but that this process could not use when it started, because the right SECRET_KEY or a
 * variable was missing. Later changes of the catalog affect all gateways alike, so they make none
 * of them unready.
 */
function watchChannels(catalog: Catalog): () => string | undefined {
  const atStart = new Set(catalog.brokenChannels())
  return () =>
    catalog.brokenChannels().some((id) => atStart.has(id))
      ? 'a channel cannot be used by this process: its log says why'
      : undefined
}

async function openMedia(parts: {
  readonly config: Config
  readonly sql: OpenedDatabase['sql']
  readonly outbound: { readonly guard: Guard }
  readonly memory: Memory
  readonly metrics: Metrics
  readonly storage: StorageWatch
  readonly log: Log
}): Promise<Assets> {
  const { config, sql, outbound, memory, metrics, log } = parts
  const { keepsFiles } = parts.storage
  const rest = { sql, guard: outbound.guard, keepsFiles, log }
  const { publicUrl, storage, ffmpeg: name } = config
  const ffmpeg = name === 'off' ? undefined : await findFfmpeg(name, log)
  const { openFile } = memory
  const opened = { ...rest, onFault: metrics.contentFault, ffmpeg, openFile, publicUrl, ...storage }
  const { dataDir, objectStore } = config
  if (objectStore) metrics.objectStore(true)
  const onStoreChange = (isThere: boolean) => {
    metrics.objectStore(isThere)
    if (isThere) log.info({}, 'the object store answers again')
    else log.error({}, 'the object store does not answer: requests for files get 503 until it does')
  }
  return openAssets({ ...opened, storage: openStorage({ dataDir, objectStore, onStoreChange }) })
}
