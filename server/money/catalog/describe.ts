/** Operator views of the stored catalog, with secrets masked. */
import type { Sql } from 'postgres'
import { OperatorError } from '../../base/lib/operator-error.ts'
import { maskSecret, type SecretBox, SecretError } from '../../base/lib/secrets/secrets.ts'
import { hideCredentials } from '../../base/lib/text/base-url.ts'
import { type ChannelSettings, openSettings } from './channel-settings.ts'
import { variableNameOf } from './environment.ts'
import {
  type ChannelRow,
  isActive,
  listChannels,
  listPlanned,
  type ModelRow,
  type PlannedRow,
  selectModels,
} from './store.ts'

export type ChannelSummary = Omit<ChannelRow, 'settings' | 'secrets'>
export type ModelSummary = Omit<ModelRow, 'price_version' | 'prices'> & {
  readonly price_version: string | null
  readonly prices: NonNullable<ModelRow['prices']>
  readonly planned: readonly PlannedRow[]
}

export async function listChannelSummaries(
  sql: Sql,
  withRetired: boolean,
): Promise<ChannelSummary[]> {
  const rows = await listChannels(sql)
  return rows.filter((row) => withRetired || isActive(row)).map(summarise)
}

/** Returns one channel with its settings. Throws OperatorError if it does not exist. */
export async function describeChannel(
  sql: Sql,
  secrets: SecretBox,
  id: string,
): Promise<ChannelSummary & { readonly settings: ChannelSettings }> {
  const row = (await listChannels(sql)).find((channel) => channel.id === id)
  if (!row) throw new OperatorError(`there is no channel ${id}`)
  const { headers, base_url: url, ...open } = row.settings
  // These may have been stored before headers were sealed and credentials in addresses refused.
  const settings = {
    ...open,
    ...(url === undefined
      ? {}
      : { base_url: typeof url === 'string' ? hideCredentials(url) : url }),
    ...(headers === undefined ? {} : { headers: mask(headers) }),
  }
  return { ...summarise(row), settings: { ...settings, ...maskedSecrets(row, secrets) } }
}

/** Masks every string in a secret setting, except names of environment variables. */
function mask(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) {
    return variableNameOf(value) === undefined ? maskSecret(String(value)) : value
  }
  const members = Object.entries(value).map(([name, member]) => [name, mask(member)] as const)
  return Object.fromEntries(members)
}

function maskedSecrets(row: ChannelRow, secrets: SecretBox): Record<string, unknown> {
  if (!row.secrets) return {}
  try {
    const place = { channelId: row.id, version: row.version }
    const opened = openSettings({ settings: {}, secrets: row.secrets }, secrets, place)
    return Object.fromEntries(Object.entries(opened).map(([name, value]) => [name, mask(value)]))
  } catch (error) {
    if (error instanceof SecretError) return { secrets: `unreadable: ${error.message}` }
    throw error
  }
}

function summarise({ settings: _settings, secrets: _secrets, ...rest }: ChannelRow) {
  return rest
}

export async function listModelSummaries(sql: Sql, withRetired: boolean): Promise<ModelSummary[]> {
  const rows = await selectModels(sql)
  const planned = Map.groupBy(await listPlanned(sql), (row) => row.model_id)
  return rows
    .filter((row) => withRetired || isActive(row))
    .map((row) => describe(row, planned.get(row.id)))
}

/**
 * Returns the ids that no active model of the catalog has: a key for a misspelt model could call
 * nothing, and a budget for one would limit nothing. Null or undefined is every model.
 */
export async function findUnknownModels(
  sql: Sql,
  ids: readonly string[] | null | undefined,
): Promise<readonly string[]> {
  if (!ids || ids.length === 0) return []
  const active = new Set((await selectModels(sql)).filter(isActive).map(({ id }) => id))
  return ids.filter((id) => !active.has(id))
}

/** Returns the currencies that active models are sold in. */
export async function listSoldCurrencies(sql: Sql): Promise<string[]> {
  const models = await listModelSummaries(sql, false)
  return [...new Set(models.flatMap(({ free, currency }) => (free ? [] : (currency ?? []))))].sort()
}

/** Throws OperatorError if the model does not exist. */
export async function describeStoredModel(sql: Sql, id: string): Promise<ModelSummary> {
  const row = (await selectModels(sql)).find((model) => model.id === id)
  if (!row) throw new OperatorError(`there is no model ${id}`)
  const planned = (await listPlanned(sql)).filter((one) => one.model_id === id)
  return describe(row, planned)
}

function describe(
  { price_version, prices, ...rest }: ModelRow,
  planned: readonly PlannedRow[] = [],
): ModelSummary {
  const version = price_version?.toString() ?? null
  return { ...rest, price_version: version, prices: prices ?? [], planned }
}
