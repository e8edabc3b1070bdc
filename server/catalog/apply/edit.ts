/**
 * Single catalog changes from the console: the same checks and transaction as `apply`, for one
 * channel or model.
 */
import type { Sql } from 'postgres'
import { OperatorError } from '../../lib/operator-error.ts'
import { type SecretBox, SecretError } from '../../lib/secrets/secrets.ts'
import { type ChannelSettings, type KnownUpstreams, openSettings } from '../channel-settings.ts'
import type { Environment } from '../environment.ts'
import {
  bumpRevision,
  listChannels,
  lockCatalog,
  retireChannels,
  retireModels,
  savePause,
  saveWake,
  selectModels,
} from '../store.ts'
import { applyCatalog, type CatalogDiff } from './apply.ts'
import { type NamedCatalogFile, parseCatalogFile } from './file.ts'

/** Prefix of the sources of entries that the console changes. */
const SOURCE = 'console'

export interface EditOptions {
  readonly sql: Sql
  readonly upstreams: KnownUpstreams
  readonly secrets: SecretBox
  readonly environment: Environment
  /** Checks the change and writes nothing. */
  readonly dryRun?: boolean
}

/**
 * Creates a channel or changes its settings; secrets that are left out are kept. Throws
 * CatalogError with the path of each mistake.
 */
export async function editChannel(
  options: EditOptions,
  channel: { readonly id: string; readonly upstream: string; readonly settings: ChannelSettings },
): Promise<CatalogDiff> {
  const kept = await readKeptSecrets(options, channel)
  const merged = { ...channel, settings: { ...kept, ...channel.settings } }
  return await applyOne(options, { channels: [merged] })
}

/** Creates or changes a model; `model` has the members of a model in a catalog file. */
export function editModel(
  options: EditOptions,
  currency: string,
  model: Readonly<Record<string, unknown>>,
): Promise<CatalogDiff> {
  return applyOne(options, { currency, models: [model] })
}

/**
 * Retires a channel. Returns false if it is not active. Throws OperatorError while an active model
 * has a route to it.
 */
export async function retireChannel(sql: Sql, id: string): Promise<boolean> {
  return await sql.begin(async (transaction) => {
    await lockCatalog(transaction)
    const channel = (await listChannels(transaction)).find((one) => one.id === id)
    if (channel?.status !== 'active') return false
    const users = (await selectModels(transaction))
      .filter(
        ({ status, routes }) => status === 'active' && routes.some((one) => one.channel === id),
      )
      .map((model) => model.id)
    if (users.length > 0) {
      throw new OperatorError(`the channel ${id} is still used by ${users.slice(0, 5).join(', ')}`)
    }
    await retireChannels(transaction, [id])
    await bumpRevision(transaction)
    return true
  })
}

/**
 * Pauses or resumes a channel, or ends its cooldowns in every gateway. Throws OperatorError if
 * there is no such active channel.
 */
export async function switchChannel(
  sql: Sql,
  id: string,
  action: 'pause' | 'resume' | 'wake',
): Promise<void> {
  await sql.begin(async (transaction) => {
    await lockCatalog(transaction)
    const channel = (await listChannels(transaction)).find((one) => one.id === id)
    if (channel?.status !== 'active') throw new OperatorError(`there is no active channel ${id}`)
    if (action === 'wake') await saveWake(transaction, id)
    else await savePause(transaction, id, action === 'pause')
    await bumpRevision(transaction)
  })
}

/**
 * Retires a model: further calls to it get a 404. Returns false if it is not active. Throws
 * OperatorError while it stands in for an active model.
 */
export async function retireModel(sql: Sql, id: string): Promise<boolean> {
  return await sql.begin(async (transaction) => {
    await lockCatalog(transaction)
    const models = await selectModels(transaction)
    const model = models.find((one) => one.id === id)
    if (model?.status !== 'active') return false
    const users = models
      .filter(({ status, fallbacks }) => {
        return status === 'active' && fallbacks.some((one) => one.model === id)
      })
      .map((one) => one.id)
    if (users.length > 0) {
      throw new OperatorError(`the model ${id} is still used by ${users.slice(0, 5).join(', ')}`)
    }
    await retireModels(transaction, [id])
    await bumpRevision(transaction)
    return true
  })
}

/** Applies one entry under a source of its own, so that it retires nothing else. */
async function applyOne(
  options: EditOptions,
  content: {
    readonly currency?: string
    readonly channels?: unknown[]
    readonly models?: unknown[]
  },
): Promise<CatalogDiff> {
  // Input from the network must not read the process's environment variables.
  const file = parseCatalogFile('the request', JSON.stringify(content), {})
  const ids = [...file.content.channels, ...file.content.models].map(({ id }) => id)
  const named: NamedCatalogFile = { ...file, source: `${SOURCE}:${ids.join()}` }
  return await applyCatalog({ ...options, files: [named] })
}

async function readKeptSecrets(
  { sql, upstreams, secrets }: EditOptions,
  { id, upstream, settings }: { id: string; upstream: string; settings: ChannelSettings },
): Promise<ChannelSettings> {
  const row = (await listChannels(sql)).find((one) => one.id === id)
  const known = Object.hasOwn(upstreams, upstream) ? upstreams[upstream] : undefined
  if (!row || !known || row.upstream !== upstream) return {}
  try {
    const opened = openSettings(row, secrets, { channelId: row.id, version: row.version })
    const kept = Object.entries(opened).filter(
      ([name]) => known.secrets.includes(name) && settings[name] === undefined,
    )
    return Object.fromEntries(kept)
  } catch (error) {
    if (error instanceof SecretError) return {}
    throw error
  }
}
