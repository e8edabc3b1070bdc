/** The stored catalog in the form of a catalog file: applying it changes nothing. */
import type { Sql, TransactionSql } from 'postgres'
import type { SecretBox } from '../../base/lib/secrets/secrets.ts'
import { openSettings } from './channel-settings.ts'
import { definitionOf, pricePlanOf } from './definition.ts'
import { variableNameOf } from './environment.ts'
import { selectIssuers } from './issuers/issuer-store.ts'
import { BASE, type ListDefinition, type PriceListRow } from './list.ts'
import { selectLists } from './lists/list-store.ts'
import {
  type ChannelRow,
  isActive,
  listChannels,
  listPlanned,
  type ModelRow,
  type PlannedRow,
  selectModels,
} from './store.ts'

export interface ExportOptions {
  readonly secrets: SecretBox
  /**
   * Secret settings stay encrypted with SECRET_KEY (`sealed`), or are replaced by the names of
   * environment variables (`env`).
   */
  readonly secretsAs: 'sealed' | 'env'
}

export interface ExportedCatalog {
  readonly source?: string
  readonly currency?: string
  readonly channels: readonly object[]
  readonly models: readonly object[]
  /** Absent without any. */
  readonly price_lists?: readonly object[]
  readonly token_issuers?: readonly object[]
}

/** A source that a file may name; entries made in the console have another. */
const FILE_SOURCE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/**
 * Reads the active channels and models. The variables that stand for secrets are added to
 * `variables`.
 */
export async function exportCatalog(
  sql: Sql | TransactionSql,
  options: ExportOptions,
): Promise<{ readonly catalog: ExportedCatalog; readonly variables: readonly string[] }> {
  const channels = (await listChannels(sql)).filter(isActive)
  const models = (await selectModels(sql)).filter(isActive)
  const lists = (await selectLists(sql)).filter(isActive)
  const issuers = (await selectIssuers(sql)).filter(isActive)
  const planned = Map.groupBy(await listPlanned(sql), (row) => row.model_id)
  const source = mostFrequent(
    [...channels, ...models, ...lists, ...issuers].map((row) => row.source),
    FILE_SOURCE,
  )
  const currency = mostFrequent(models.map(currencyOf), /./)
  const variables = new Set<string>()
  const catalog = {
    source,
    currency,
    channels: channels.map((row) => {
      const entry = exportChannel(row, options, variables)
      return { ...entry, ...(row.paused_at ? { paused: true } : {}), ...sourceOf(row, source) }
    }),
    models: models.map((row) => {
      const own = currencyOf(row)
      return {
        ...exportModel(row, planned.get(row.id) ?? []),
        ...(own === undefined || own === currency ? {} : { currency: own }),
        ...sourceOf(row, source),
      }
    }),
    ...(lists.length === 0
      ? {}
      : {
          price_lists: lists.map((row) => ({
            ...exportList(row, models),
            ...sourceOf(row, source),
          })),
        }),
    ...(issuers.length === 0
      ? {}
      : {
          token_issuers: issuers.map((row) => ({ ...row.definition, ...sourceOf(row, source) })),
        }),
  }
  return { catalog, variables: [...variables] }
}

function sourceOf({ source }: { readonly source: string }, common: string | undefined) {
  return source === common || source === '' ? {} : { source }
}

/** Returns the currency of a model's prices, or of the costs of a free model. */
function currencyOf({ currency, routes }: ModelRow): string | undefined {
  return currency ?? routes.find((route) => route.currency !== undefined)?.currency
}

/** Adds the variables that stand for secrets to `variables`. */
function exportChannel(
  row: ChannelRow,
  { secrets, secretsAs }: ExportOptions,
  variables: Set<string>,
): object {
  const { id, upstream, settings, version } = row
  if (!row.secrets) return { id, upstream, settings }
  if (secretsAs === 'sealed') {
    const sealed = { version, secrets: row.secrets.toString('base64') }
    return { id, upstream, settings, sealed }
  }
  const stored = { settings: {}, secrets: row.secrets }
  const opened = openSettings(stored, secrets, { channelId: id, version })
  const named = nameSecrets(opened, id, variables)
  return { id, upstream, settings: { ...settings, ...named } }
}

/**
 * Replaces every string with the name of an environment variable of its own, unless it already is
 * one.
 */
function nameSecrets(
  values: Readonly<Record<string, unknown>>,
  prefix: string,
  variables: Set<string>,
): object {
  const entries = Object.entries(values).map(
    ([key, value]) => [key, nameSecret(value, `${prefix}_${key}`, variables)] as const,
  )
  return Object.fromEntries(entries)
}

function nameSecret(value: unknown, name: string, variables: Set<string>): unknown {
  if (Array.isArray(value)) {
    return value.map((one, index) => nameSecret(one, `${name}_${index + 1}`, variables))
  }
  if (typeof value === 'object' && value !== null) {
    return nameSecrets({ ...value }, name, variables)
  }
  if (variableNameOf(value) !== undefined) return value
  const base = name.toUpperCase().replace(/[^A-Z0-9]/g, '_')
  let variable = base
  for (let count = 2; variables.has(variable); count += 1) variable = `${base}_${count}`
  variables.add(variable)
  return `env:${variable}`
}

/** Omits empty values and, in routes, the currency if it is that of the model. */
function exportModel(row: ModelRow, planned: readonly PlannedRow[]): object {
  const definition = definitionOf(row, planned.map(pricePlanOf))
  const { type, free, prices, planned_prices: plans, routes, limits } = definition
  const { unpriced_tools: tools, routing, ...details } = definition.details
  return {
    id: row.id,
    type,
    ...(free ? { free } : { prices: prices ?? [] }),
    ...(plans.length > 0 ? { planned_prices: plans } : {}),
    routes: routes.map((route) => ({ ...route, currency: undefined })),
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    unpriced_tools: tools,
    routing,
    ...(Object.keys(details).length > 0 ? { details } : {}),
  }
}

/** Omits models that are no longer for sale, which a file must not name. */
function exportList(
  { id, currency, parent, account_id: account, definition }: PriceListRow,
  models: readonly ModelRow[],
): object {
  const isSold = new Set(models.map((model) => model.id))
  const sold = (prices: ListDefinition['prices']) =>
    Object.fromEntries(Object.entries(prices).filter(([model]) => isSold.has(model)))
  const { default: rule, prices, planned_prices: plans } = definition
  return {
    id,
    currency,
    ...(account === null ? { parent: parent ?? BASE } : { account }),
    ...(rule === undefined ? {} : { default: rule }),
    prices: sold(prices),
    ...(plans
      ? { planned_prices: plans.map((plan) => ({ ...plan, prices: sold(plan.prices) })) }
      : {}),
  }
}

function mostFrequent(
  values: readonly (string | undefined)[],
  pattern: RegExp,
): string | undefined {
  const counts = new Map<string, number>()
  for (const value of values) {
    if (value !== undefined && pattern.test(value)) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0]
}
