/** Queries of the catalog's tables. All writes run in the transaction of one `apply`. */
import type { Sql, TransactionSql } from 'postgres'
import type { TokenIssuer } from '../../base/lib/token-issuer.ts'
import type { Unit } from '../../base/lib/units.ts'
import type { Condition, Fallback, ModelLimits, ModelType, StoredList } from './catalog.ts'
import type { ChannelSettings } from './channel-settings.ts'

export interface ChannelRow {
  readonly id: string
  readonly upstream: string
  readonly source: string
  readonly status: 'active' | 'retired'
  readonly version: number
  readonly settings: ChannelSettings
  readonly secrets: Buffer | null
  /** The time since which it gets no new calls and tasks; null if it gets them. */
  readonly paused_at: Date | null
  /** The last time that an operator ended its cooldowns. */
  readonly woken_at: Date | null
  readonly updated_at: Date
}

/** A price as it is stored and shown: amounts are decimal strings. */
export interface StoredPrice {
  readonly unit: Unit
  readonly per: number
  readonly amount: string
  readonly when?: Readonly<Record<string, Condition>> | undefined
}

export interface StoredRoute {
  readonly channel: string
  readonly upstream_model: string
  readonly priority: number
  readonly weight: number
  /** The upstream cost with its currency and version: all three are present, or none. */
  readonly costs?: readonly StoredPrice[] | undefined
  readonly currency?: string
  readonly upstream_cost_version?: string
}

export interface ModelRow {
  readonly id: string
  readonly type: ModelType
  readonly free: boolean
  readonly source: string
  readonly status: 'active' | 'retired'
  readonly limits: ModelLimits
  readonly routes: readonly StoredRoute[]
  readonly fallbacks: readonly Fallback[]
  readonly details: Readonly<Record<string, unknown>>
  readonly price_version: bigint | null
  readonly currency: string | null
  readonly prices: readonly StoredPrice[] | null
  readonly effective_from: Date | null
  readonly updated_at: Date
}

/** Prices that take effect at a future time. */
export interface PlannedRow {
  readonly model_id: string
  readonly version: bigint
  readonly effective_from: Date
  readonly currency: string
  readonly prices: readonly StoredPrice[]
  readonly source: string
}

export function isActive({ status }: { readonly status: string }): boolean {
  return status === 'active'
}

export async function readRevision(sql: Sql | TransactionSql): Promise<bigint> {
  return (await readMoment(sql)).revision
}

/** Returns the catalog's revision and the database's current time. */
export async function readMoment(
  sql: Sql | TransactionSql,
): Promise<{ readonly revision: bigint; readonly at: Date }> {
  const [row] = await sql<{ revision: bigint; at: Date }[]>`
    select revision, clock_timestamp() as at from catalog_revision`
  if (!row) throw new Error('the catalog has no revision')
  return row
}

/** Waits for any other `apply` to finish, and blocks others until the transaction ends. */
export async function lockCatalog(sql: TransactionSql): Promise<void> {
  await sql`select 1 from catalog_revision for update`
}

export async function bumpRevision(sql: TransactionSql): Promise<bigint> {
  const [row] = await sql<{ revision: bigint }[]>`
    update catalog_revision set revision = revision + 1, updated_at = now() returning revision`
  return row?.revision ?? 0n
}

export function listChannels(sql: Sql | TransactionSql): Promise<ChannelRow[]> {
  return sql<ChannelRow[]>`
    select c.id, c.upstream, c.source, c.status, c.version, v.settings, v.secrets, c.paused_at,
      c.woken_at, c.updated_at
    from channel c join channel_version v on v.channel_id = c.id and v.version = c.version
    order by c.id`
}

const isWithdrawn = (sql: Sql | TransactionSql) => sql`
  exists (select 1 from price_withdrawal w where w.version = price.version)`

/**
 * Lists all models, each with the prices in effect by the database's clock: the newest that have
 * begun.
 */
export async function selectModels(sql: Sql | TransactionSql): Promise<ModelRow[]> {
  const rows = await sql<(Omit<ModelRow, 'routes' | 'fallbacks'> & StoredTargets)[]>`
    select m.id, m.type, m.free, m.source, m.status, m.limits, m.routes, m.details,
      p.version as price_version, p.currency, p.prices, p.effective_from, m.updated_at
    from model m left join lateral (
      select version, currency, prices, effective_from from price
      where model_id = m.id and effective_from <= clock_timestamp() and not ${isWithdrawn(sql)}
      order by effective_from desc, version desc limit 1) p on m.price_version is not null
    order by m.id`
  return rows.map((row) => ({
    ...row,
    routes: row.routes.filter((route) => 'channel' in route),
    fallbacks: row.routes.filter((route) => 'model' in route),
  }))
}

/** Routes to channels and to other models share a column. */
interface StoredTargets {
  readonly routes: readonly (StoredRoute | Fallback)[]
}

/** Lists the planned prices of models that are sold, ordered by their start. */
export function listPlanned(sql: Sql | TransactionSql): Promise<PlannedRow[]> {
  return sql<PlannedRow[]>`
    select model_id, version, effective_from, currency, prices, source from price
    where effective_from > now() and not ${isWithdrawn(sql)}
      and exists (select 1 from model m
        where m.id = price.model_id and m.price_version is not null)
    order by effective_from, version`
}

/** Returns the prices in effect, and those that were before them. */
export async function readBegunPrices(
  sql: TransactionSql,
  modelId: string,
): Promise<(readonly StoredPrice[])[]> {
  const rows = await sql<Pick<PlannedRow, 'prices'>[]>`
    select prices from price
    where model_id = ${modelId} and effective_from <= clock_timestamp()
      and not ${isWithdrawn(sql)}
    order by effective_from desc, version desc limit 2`
  return rows.map(({ prices }) => prices)
}

/**
 * Returns false if the version has taken effect, was already withdrawn or belongs to another model.
 */
export async function withdrawPrice(
  sql: TransactionSql,
  modelId: string,
  version: bigint,
): Promise<boolean> {
  const withdrawn = await sql`
    insert into price_withdrawal (version)
    select version from price
    where model_id = ${modelId} and version = ${version.toString()}::bigint
      and effective_from > clock_timestamp()
    on conflict (version) do nothing`
  return withdrawn.count === 1
}

/** Returns everything a gateway loads, from one consistent read. */
export async function readCatalog(sql: Sql): Promise<{
  readonly revision: bigint
  readonly channels: readonly ChannelRow[]
  readonly models: readonly ModelRow[]
  readonly planned: readonly PlannedRow[]
  readonly lists: readonly StoredList[]
  readonly issuers: readonly TokenIssuer[]
  /** The database's time at the start of the read. */
  readonly at: Date
}> {
  return await sql.begin('isolation level repeatable read read only', async (view) => ({
    ...(await readMoment(view)),
    channels: await listChannels(view),
    models: await selectModels(view),
    planned: await listPlanned(view),
    lists: await readLists(view),
    issuers: await readIssuers(view),
  }))
}

/** Returns all active lists. The parent of an account's own list is the list of that account. */
export function readLists(sql: Sql | TransactionSql): Promise<StoredList[]> {
  return sql<StoredList[]>`
    select l.id, l.currency, l.compiled,
      case when l.account_id is null then l.parent else a.price_list end as parent,
      array(select (extract(epoch from moment) * 1000)::float8 from unnest(l.moments) moment
        order by moment) as moments
    from price_list l left join account a on a.id = l.account_id
    where l.status = 'active'`
}

async function readIssuers(sql: TransactionSql): Promise<TokenIssuer[]> {
  const rows = await sql<{ definition: TokenIssuer }[]>`
    select definition from token_issuer where status = 'active' order by id`
  return rows.map(({ definition }) => definition)
}

/** Creates a channel or its next version. */
export async function saveChannel(
  sql: TransactionSql,
  channel: Omit<ChannelRow, 'status' | 'paused_at' | 'woken_at' | 'updated_at'>,
): Promise<void> {
  const settings = JSON.stringify(channel.settings)
  await sql`
    insert into channel (id, upstream, source, version)
    values (${channel.id}, ${channel.upstream}, ${channel.source}, ${channel.version})
    on conflict (id) do update set upstream = excluded.upstream, source = excluded.source,
      version = excluded.version, status = 'active', updated_at = now()`
  await sql`
    insert into channel_version (channel_id, version, settings, secrets)
    values (${channel.id}, ${channel.version}, ${settings}::text::jsonb, ${channel.secrets})
    on conflict (channel_id, version) do nothing`
}

/** A channel that is already paused keeps the start of its pause. */
export async function savePause(sql: TransactionSql, id: string, isPaused: boolean): Promise<void> {
  await sql`
    update channel set paused_at = ${isPaused ? sql`coalesce(paused_at, now())` : null}
    where id = ${id}`
}

export async function saveWake(sql: TransactionSql, id: string): Promise<void> {
  await sql`update channel set woken_at = clock_timestamp() where id = ${id}`
}

export async function savePrice(
  sql: TransactionSql,
  price: {
    readonly modelId: string
    readonly currency: string
    readonly prices: readonly StoredPrice[]
    /** Takes effect immediately if absent. */
    readonly effectiveFrom?: Date
    /** The file or console that planned the price. */
    readonly source?: string
  },
): Promise<bigint> {
  const { modelId, currency, effectiveFrom = null, source = '' } = price
  const [row] = await sql<{ version: bigint }[]>`
    insert into price (model_id, currency, prices, effective_from, source)
    values (${modelId}, ${currency}, ${JSON.stringify(price.prices)}::text::jsonb,
      coalesce(${effectiveFrom}::timestamptz, clock_timestamp()), ${source})
    returning version`
  if (!row) throw new Error(`the price of ${modelId} was not written`)
  return row.version
}

export async function saveCost(
  sql: TransactionSql,
  modelId: string,
  { channel, upstream_model, costs, currency }: StoredRoute,
): Promise<string> {
  const [row] = await sql<{ version: bigint }[]>`
    insert into upstream_cost (model_id, channel_id, upstream_model, currency, costs)
    values (${modelId}, ${channel}, ${upstream_model}, ${currency ?? ''},
      ${JSON.stringify(costs)}::text::jsonb)
    returning version`
  if (!row) throw new Error(`the costs of ${modelId} were not written`)
  return row.version.toString()
}

export async function saveModel(
  sql: TransactionSql,
  model: Omit<ModelRow, 'status' | 'updated_at' | 'currency' | 'prices' | 'effective_from'>,
): Promise<void> {
  await sql`
    insert into model (id, type, free, source, limits, routes, details, price_version)
    values (${model.id}, ${model.type}, ${model.free}, ${model.source},
      ${JSON.stringify(model.limits)}::text::jsonb,
      ${JSON.stringify([...model.routes, ...model.fallbacks])}::text::jsonb,
      ${JSON.stringify(model.details)}::text::jsonb, ${model.price_version?.toString() ?? null})
    on conflict (id) do update set type = excluded.type, free = excluded.free,
      source = excluded.source, status = 'active', limits = excluded.limits,
      routes = excluded.routes, details = excluded.details,
      price_version = excluded.price_version, updated_at = now()`
}

export async function retireChannels(sql: TransactionSql, ids: readonly string[]): Promise<void> {
  await sql`update channel set status = 'retired', updated_at = now() where id in ${sql(ids)}`
}

export async function retireModels(sql: TransactionSql, ids: readonly string[]): Promise<void> {
  await sql`update model set status = 'retired', updated_at = now() where id in ${sql(ids)}`
}

export interface SealedChannelRow {
  readonly channel_id: string
  readonly version: number
  readonly secrets: Buffer
}

/**
 * Lists the sealed settings of every version of every channel: open tasks still need old versions.
 */
export function listSealedSettings(sql: TransactionSql): Promise<SealedChannelRow[]> {
  return sql<SealedChannelRow[]>`
    select channel_id, version, secrets from channel_version where secrets is not null
    order by channel_id, version`
}

export async function replaceSecrets(
  sql: TransactionSql,
  row: Omit<SealedChannelRow, 'secrets'> & { readonly secrets: Buffer | null },
): Promise<void> {
  await sql`
    update channel_version set secrets = ${row.secrets}
    where channel_id = ${row.channel_id} and version = ${row.version}`
}

/** Returns one version of a channel's settings, also for a retired channel. */
export async function readChannelVersion(
  sql: Sql,
  channelId: string,
  version: number,
): Promise<Pick<ChannelRow, 'upstream' | 'settings' | 'secrets'> | undefined> {
  const [row] = await sql<Pick<ChannelRow, 'upstream' | 'settings' | 'secrets'>[]>`
    select c.upstream, v.settings, v.secrets
    from channel_version v join channel c on c.id = v.channel_id
    where v.channel_id = ${channelId} and v.version = ${version}`
  return row
}
