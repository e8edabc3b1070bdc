/**
 * The catalog in memory: an immutable snapshot, replaced as a whole when the revision moves. A
 * notification says so at once; a look every few seconds says so when notifications are lost.
 */
import type { Sql } from 'postgres'
import type { Log } from '../lib/log.ts'
import { parseAmount } from '../lib/money.ts'
import { type SecretBox, SecretError } from '../lib/secrets.ts'
import type { CatalogSnapshot, Channel, Model, PriceEntry } from './catalog.ts'
import { type KnownUpstreams, openSettings, resolveSettings } from './channel-settings.ts'
import type { Environment } from './environment.ts'
import {
  type ChannelRow,
  type ModelRow,
  readCatalog,
  readRevision,
  type StoredPrice,
} from './store.ts'

export interface CatalogOptions {
  readonly sql: Sql
  readonly upstreams: KnownUpstreams
  readonly secrets: SecretBox
  readonly log: Log
  readonly environment?: Environment
  readonly pollMs?: number
}

export interface Catalog {
  /** The catalog as of the last look: at most a few seconds old while the database answers. */
  snapshot(): CatalogSnapshot
  /** Why an active channel cannot be used; undefined for one that can, or that is not active. */
  problemOf(channelId: string): string | undefined
  /** Looks now, and resolves when the snapshot is at least as new as this call. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

const POLL_MS = 4_000
const NOTIFICATIONS = 'tributary_catalog'

/** Loads the catalog and keeps it fresh. Throws when the first load fails. */
export async function createCatalog(options: CatalogOptions): Promise<Catalog> {
  const { sql, log } = options
  let current = await load(options)
  let running: Promise<void> | undefined
  let waiting: Promise<void> | undefined
  let stopped = false

  async function look(): Promise<void> {
    if ((await readRevision(sql)) === current.revision) return
    current = await load(options)
    log.info({ revision: current.revision.toString() }, 'catalog loaded')
  }

  function start(): Promise<void> {
    waiting = undefined
    running = look().finally(() => {
      running = undefined
    })
    return running
  }

  /** A look that began earlier may have missed the change: everybody shares the one after it. */
  function refresh(): Promise<void> {
    if (!running) return start()
    waiting ??= running.then(start, start)
    return waiting
  }

  function refreshQuietly(): void {
    if (stopped) return
    refresh().catch((error) => {
      log.warn({ error }, 'the catalog could not be read; the last one stays')
    })
  }

  const timer = setInterval(refreshQuietly, options.pollMs ?? POLL_MS)
  timer.unref()
  const listening = sql
    .listen(NOTIFICATIONS, refreshQuietly, refreshQuietly)
    .catch((error) => void log.warn({ error }, 'no notifications of catalog changes: polling only'))

  return {
    snapshot: () => current,
    problemOf: (channelId) => current.problems.get(channelId),
    refresh,
    async stop() {
      stopped = true
      clearInterval(timer)
      await (await listening)?.unlisten().catch(() => undefined)
      await (waiting ?? running)?.catch(() => undefined)
    },
  }
}

interface Loaded extends CatalogSnapshot {
  /** Why active channels were left out. */
  readonly problems: ReadonlyMap<string, string>
}

async function load(options: CatalogOptions): Promise<Loaded> {
  const { revision, channels, models } = await readCatalog(options.sql)
  const problems = new Map<string, string>()
  const usable = channels
    .filter(({ status }) => status === 'active')
    .flatMap((row) => loadChannel(row, options, problems) ?? [])
  return {
    revision,
    problems,
    channels: new Map(usable.map((channel) => [channel.id, channel])),
    models: new Map(
      models
        .filter(({ status }) => status === 'active')
        .map((row) => [row.id, loadModel(row)] as const),
    ),
  }
}

/** One broken channel must not take the others with it: it is left out, and the log says why. */
function loadChannel(
  row: ChannelRow,
  options: CatalogOptions,
  problems: Map<string, string>,
): Channel | undefined {
  const found = openChannel(row, options)
  if ('settings' in found) {
    const { id, upstream, version } = row
    return { id, upstream, version, settings: found.settings }
  }
  problems.set(row.id, found.problem)
  options.log.error({ channel: row.id, reason: found.problem }, 'channel cannot be used')
  return undefined
}

function openChannel(
  row: ChannelRow,
  { upstreams, secrets, environment = process.env }: CatalogOptions,
): { readonly settings: unknown } | { readonly problem: string } {
  const upstream = Object.hasOwn(upstreams, row.upstream) ? upstreams[row.upstream] : undefined
  if (!upstream) return { problem: `this version knows no upstream "${row.upstream}"` }
  try {
    const opened = openSettings(row, secrets, { channelId: row.id, version: row.version })
    return resolveSettings(opened, upstream, environment)
  } catch (error) {
    if (error instanceof SecretError) return { problem: error.message }
    throw error
  }
}

function loadModel(row: ModelRow): Model {
  return {
    id: row.id,
    type: row.type,
    free: row.free,
    limits: row.limits,
    routes: row.routes.map(({ channel, upstream_model, priority, weight }) => {
      return { channel, upstreamModel: upstream_model, priority, weight }
    }),
    prices: readPrices(row.prices ?? []),
    priceVersion: row.price_version,
    currency: row.currency ?? 'CNY',
    details: row.details,
    updatedAt: row.updated_at,
  }
}

/** Stored prices as the pipeline computes with them. */
export function readPrices(stored: readonly StoredPrice[]): PriceEntry[] {
  return stored.map(({ unit, per, amount, when }) => {
    const amountNanos = parseAmount(amount)
    if (amountNanos === undefined) throw new Error(`a stored price is no amount: "${amount}"`)
    return { unit, per, amountNanos, ...(when ? { when } : {}) }
  })
}
