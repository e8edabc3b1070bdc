/**
 * Keeps the catalog in memory as an immutable snapshot that is replaced when the revision changes.
 * A notification triggers a reload at once; polling every few seconds covers lost notifications.
 * Planned prices are part of the snapshot and take effect by the clock, without a job.
 */
import type { Sql } from 'postgres'
import { isOwnEnd } from '../../../base/database/unavailable.ts'
import type { Log } from '../../../base/lib/log.ts'
import { type SecretBox, SecretError } from '../../../base/lib/secrets/secrets.ts'
import type { CatalogSnapshot, Channel, Model } from '../catalog.ts'
import { type KnownUpstreams, openSettings, resolveSettings } from '../channel-settings.ts'
import type { Environment } from '../environment.ts'
import { type ChannelRow, isActive, readCatalog, readMoment } from '../store.ts'
import { splitKeys } from './channel-keys.ts'
import { type CatalogClock, createCatalogClock } from './database-clock.ts'
import { loadModel, modelAt } from './load-model.ts'

export interface CatalogOptions {
  readonly sql: Sql
  readonly upstreams: KnownUpstreams
  readonly secrets: SecretBox
  readonly log: Log
  readonly environment?: Environment
  readonly pollMs?: number
  readonly clock?: CatalogClock
  /** Called for each channel whose cooldowns an operator has ended since the last load. */
  readonly onWoken?: (channelId: string) => void
}

export interface Catalog {
  /** Returns the latest snapshot: at most a few seconds old while the database responds. */
  snapshot(): CatalogSnapshot
  /** Returns why an active channel cannot be used, or undefined if it can or is not active. */
  problemOf(channelId: string): string | undefined
  /** Returns the ids of all active channels: usable, paused, and those that cannot be used. */
  activeChannels(): readonly string[]
  /** Returns the ids of active channels that cannot be used, without those that are paused. */
  brokenChannels(): readonly string[]
  /**
   * Reloads if the revision changed; resolves once the snapshot is at least as new as this call.
   */
  refresh(): Promise<void>
  stop(): Promise<void>
}

const POLL_MS = 4_000
const NOTIFICATIONS = 'tributary_catalog'

/** Loads the catalog and keeps it up to date. Rejects if the first load fails. */
export async function createCatalog(options: CatalogOptions): Promise<Catalog> {
  const { sql, log, clock = createCatalogClock() } = options
  await clock.sample(() => readMoment(sql))
  let current = await load(options)
  let running: Promise<void> | undefined
  let waiting: Promise<void> | undefined
  let stopped = false

  async function poll(): Promise<void> {
    const { revision } = await clock.sample(() => readMoment(sql))
    if (revision === current.revision) return
    const previous = current
    current = await load(options)
    for (const id of listWoken(previous, current)) options.onWoken?.(id)
    log.info({ revision: current.revision.toString() }, 'catalog loaded')
  }

  function start(): Promise<void> {
    waiting = undefined
    running = poll().finally(() => {
      running = undefined
    })
    return running
  }

  /** A poll that began earlier may have missed the change: all callers share the next one. */
  function refresh(): Promise<void> {
    if (!running) return start()
    waiting ??= running.then(start, start)
    return waiting
  }

  function refreshQuietly(): void {
    if (stopped) return
    refresh().catch((error) => {
      // The gateway is stopping or has refused to start; the reason is logged elsewhere.
      if (isOwnEnd(error)) return
      log.warn({ error }, 'catalog reload failed, keeping the current snapshot')
    })
  }

  /** Returns the snapshot with the prices in effect now. */
  function snapshot(): Loaded {
    const nowMs = clock.now()
    if (nowMs >= current.nextPriceMs) current = pricedAt(current, nowMs)
    return current
  }

  const timer = setInterval(refreshQuietly, options.pollMs ?? POLL_MS).unref()
  const listening = sql
    .listen(NOTIFICATIONS, refreshQuietly, refreshQuietly)
    .catch(
      (error) => void log.warn({ error }, 'catalog notifications are unavailable, polling only'),
    )

  return {
    snapshot,
    problemOf: (channelId) => current.problems.get(channelId)?.reason,
    activeChannels: () => [...current.channels.keys(), ...current.problems.keys()],
    brokenChannels: () =>
      [...current.problems].flatMap(([id, { isPaused }]) => (isPaused ? [] : [id])),
    refresh,
    async stop() {
      stopped = true
      clearInterval(timer)
      await (await listening)?.unlisten().catch(() => undefined)
      await (waiting ?? running)?.catch(() => undefined)
    },
  }
}

function listWoken(previous: CatalogSnapshot, current: CatalogSnapshot): string[] {
  return [...current.channels.values()]
    .filter(({ id, wokenAt }) => {
      const before = previous.channels.get(id)?.wokenAt?.getTime() ?? 0
      return (wokenAt?.getTime() ?? 0) > before
    })
    .map(({ id }) => id)
}

interface ChannelProblem {
  readonly reason: string
  readonly isPaused: boolean
}

interface Loaded extends CatalogSnapshot {
  /** The reasons why active channels were left out, by channel id. */
  readonly problems: ReadonlyMap<string, ChannelProblem>
  /** The time at which the next planned price takes effect, by the database's clock. */
  readonly nextPriceMs: number
}

async function load(options: CatalogOptions): Promise<Loaded> {
  const { revision, channels, models, planned, lists, issuers, at } = await readCatalog(options.sql)
  const problems = new Map<string, ChannelProblem>()
  const usable = channels.filter(isActive).flatMap((row) => loadChannel(row, options, problems))
  const plans = Map.groupBy(planned, (row) => row.model_id)
  const active = models.filter(isActive)
  const channelMap = new Map(usable.map((channel) => [channel.id, channel]))
  const listMap = new Map(lists.map((list) => [list.id, list]))
  return withModels(
    { revision, problems, channels: channelMap, lists: listMap, issuers },
    active.map((row) => loadModel(row, plans.get(row.id) ?? [])),
    at.getTime(),
  )
}

function withModels(
  {
    revision,
    problems,
    channels,
    lists,
    issuers,
  }: Omit<Loaded, 'models' | 'nextPriceMs' | 'pricedAtMs'>,
  models: readonly Model[],
  pricedAtMs: number,
): Loaded {
  const moments = [
    ...models.flatMap(({ plannedPrices: [next] }) => next?.effectiveFrom.getTime() ?? []),
    ...[...lists.values()].flatMap((list) => list.moments.find((one) => one > pricedAtMs) ?? []),
  ]
  return {
    revision,
    problems,
    channels,
    lists,
    issuers,
    models: new Map(models.map((model) => [model.id, model])),
    pricedAtMs,
    nextPriceMs: moments.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY),
  }
}

function pricedAt(loaded: Loaded, nowMs: number): Loaded {
  const models = [...loaded.models.values()].map((model) => modelAt(model, nowMs))
  return withModels(loaded, models, nowMs)
}

/**
 * Loads a channel, once for each key. One that cannot be used is left out and logged, without
 * affecting others.
 */
function loadChannel(
  row: ChannelRow,
  options: CatalogOptions,
  problems: Map<string, ChannelProblem>,
): Channel[] {
  const found = openStoredChannel(row, options)
  if ('settings' in found) {
    const { id, upstream, version, paused_at: pausedAt, woken_at: wokenAt } = row
    const { settings } = found
    const channel = { id, upstream, version, isPaused: pausedAt !== null, wokenAt, settings }
    return splitKeys(channel, options.upstreams[upstream] ?? {})
  }
  problems.set(row.id, { reason: found.problem, isPaused: row.paused_at !== null })
  options.log.error({ channel: row.id, reason: found.problem }, 'channel cannot be used')
  return []
}

/** Returns the settings for the adapter, or the reason why the channel cannot be used. */
export function openStoredChannel(
  row: Pick<ChannelRow, 'id' | 'upstream' | 'version' | 'settings' | 'secrets'>,
  {
    upstreams,
    secrets,
    environment = process.env,
  }: Pick<CatalogOptions, 'upstreams' | 'secrets' | 'environment'>,
): { readonly settings: unknown } | { readonly problem: string } {
  const upstream = Object.hasOwn(upstreams, row.upstream) ? upstreams[row.upstream] : undefined
  if (!upstream) return { problem: `this version has no upstream "${row.upstream}"` }
  try {
    const opened = openSettings(row, secrets, { channelId: row.id, version: row.version })
    return resolveSettings(opened, upstream, environment)
  } catch (error) {
    if (error instanceof SecretError) return { problem: error.message }
    throw error
  }
}
