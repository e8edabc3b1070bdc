/**
 * Single changes of the catalog, as the console makes them: the same checks and the same
 * transaction as `apply`, for one channel or one model.
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
  selectModels,
} from '../store.ts'
import { applyCatalog, type CatalogDiff } from './apply.ts'
import { type NamedCatalogFile, parseCatalogFile } from './file.ts'

/** The source under which the console's changes are kept. */
const SOURCE = 'console'

export interface EditOptions {
  readonly sql: Sql
  readonly upstreams: KnownUpstreams
  readonly secrets: SecretBox
  readonly environment: Environment
}

/**
 * Creates a channel or changes its settings; a secret that is left out stays as it was. Throws
 * CatalogError with the path of what does not fit.
 */
export async function editChannel(
  options: EditOptions,
  channel: { readonly id: string; readonly upstream: string; readonly settings: ChannelSettings },
): Promise<CatalogDiff> {
  const kept = await readKeptSecrets(options, channel)
  const merged = { ...channel, settings: { ...kept, ...channel.settings } }
  return await applyOne(options, { channels: [merged] })
}

/** Creates a model or changes it; `model` has the members of a catalog file's model. */
export function editModel(
  options: EditOptions,
  currency: string,
  model: Readonly<Record<string, unknown>>,
): Promise<CatalogDiff> {
  return applyOne(options, { currency, models: [model] })
}

/** Takes a channel out of use. Throws OperatorError while an active model has a route to it. */
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

/** Takes a model out of use: calls to it are answered 404 from then on. */
export async function retireModel(sql: Sql, id: string): Promise<boolean> {
  return await sql.begin(async (transaction) => {
    await lockCatalog(transaction)
    const model = (await selectModels(transaction)).find((one) => one.id === id)
    if (model?.status !== 'active') return false
    await retireModels(transaction, [id])
    await bumpRevision(transaction)
    return true
  })
}

/** A source of its own for each entry: one change must not retire what another one brought. */
async function applyOne(
  options: EditOptions,
  content: {
    readonly currency?: string
    readonly channels?: unknown[]
    readonly models?: unknown[]
  },
): Promise<CatalogDiff> {
  // No variable of the process is put into a text that comes over the network.
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
