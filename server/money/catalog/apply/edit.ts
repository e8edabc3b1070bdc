/**
 * Single catalog changes from the console: the same checks and transaction as `apply`, for one
 * channel or model.
 */
import type { Sql } from 'postgres'
import { OperatorError } from '../../../base/lib/operator-error.ts'
import { type SecretBox, SecretError } from '../../../base/lib/secrets/secrets.ts'
import { type ChannelSettings, type KnownUpstreams, openSettings } from '../channel-settings.ts'
import type { Environment } from '../environment.ts'
import type { Mistake } from '../mistakes.ts'
import {
  bumpRevision,
  isActive,
  listChannels,
  lockCatalog,
  type ModelRow,
  retireChannels,
  retireModels,
  savePause,
  saveWake,
  selectModels,
} from '../store.ts'
import { applyCatalog, type CatalogDiff } from './apply.ts'
import { type ApplyOptions, type EntryKind, StaleChannel } from './change.ts'
import { CatalogError, type NamedCatalogFile, parseCatalogFile } from './file.ts'
import { findTakenNames } from './taken-names.ts'

/** Prefix of the sources of entries that the console changes. */
const SOURCE = 'console'
/** The name of the file in messages. */
const REQUEST = 'the request'

export interface EditOptions {
  readonly sql: Sql
  readonly upstreams: KnownUpstreams
  readonly secrets: SecretBox
  readonly environment: Environment
  /** Checks the change and writes nothing. */
  readonly dryRun?: boolean
  /** The entry must be new: a name in use is a mistake. */
  readonly isNew?: boolean
  /** The entry must have this revision: another one is a ChangedEntry. */
  readonly revision?: string
}

interface ChannelDraft {
  readonly id: string
  readonly upstream: string
  readonly settings: ChannelSettings
}

/**
 * The most attempts: concurrent changes of one channel are rare, but each makes the others read it
 * again.
 */
const TRIES_MAX = 10

/**
 * Creates a channel or changes its settings; omitted secrets keep the value that they have when the
 * change is written. Throws CatalogError with the path of each mistake.
 */
export async function editChannel(
  options: EditOptions,
  channel: ChannelDraft,
): Promise<CatalogDiff> {
  for (let left = TRIES_MAX; ; left -= 1) {
    try {
      return await editRead(options, channel)
    } catch (error) {
      if (!(error instanceof StaleChannel)) throw error
      if (left > 1) continue
      throw new OperatorError(`others keep changing the channel ${channel.id}: try again`)
    }
  }
}

/** Edits a channel as it is read now. Throws StaleChannel if it changes meanwhile. */
async function editRead(options: EditOptions, channel: ChannelDraft): Promise<CatalogDiff> {
  const { kept, madeFrom } = options.isNew ? {} : await readKeptSecrets(options, channel)
  const merged = { ...channel, settings: { ...kept, ...channel.settings } }
  try {
    return await applyEntries({ ...options, madeFrom }, 'channels', [merged])
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    if (!error.mistakes.some(({ path }) => path === 'channels[0].id')) throw error
    // An invalid name ends the validation before the settings are checked.
    const renamed = { ...merged, id: 'new' }
    const checked = applyEntries({ ...options, dryRun: true, isNew: false }, 'channels', [renamed])
    return await withMistakes(error.mistakes, checked)
  }
}

/** Creates or changes a model; `model` has the members of a model in a catalog file. */
export function editModel(
  options: EditOptions,
  currency: string,
  model: Model,
): Promise<CatalogDiff> {
  return applyEntries(options, 'models', [model], currency)
}

type Model = Readonly<Record<string, unknown>> & { readonly id: string }

/** Adds models, all or none. Throws CatalogError also for names that are for sale already. */
export function addModels(
  options: EditOptions,
  currency: string,
  models: readonly Model[],
): Promise<CatalogDiff> {
  const entries = models.map((one) => ({ ...one, source: `${SOURCE}:${one.id}` }))
  return applyEntries({ ...options, isNew: true }, 'models', entries, currency)
}

/**
 * Retires a channel. Returns false if it is not active. Throws OperatorError while an active model
 * has a route to it.
 */
export function retireChannel(sql: Sql, id: string): Promise<boolean> {
  return retire(sql, { kind: 'channel', id }, ({ routes }) => {
    return routes.some(({ channel }) => channel === id)
  })
}

/**
 * Retires a model: further calls to it get a 404. Returns false if it is not active. Throws
 * OperatorError while it is a fallback of an active model.
 */
export function retireModel(sql: Sql, id: string): Promise<boolean> {
  return retire(sql, { kind: 'model', id }, ({ fallbacks }) => {
    return fallbacks.some(({ model }) => model === id)
  })
}

async function retire(
  sql: Sql,
  { kind, id }: { readonly kind: 'channel' | 'model'; readonly id: string },
  isUser: (model: ModelRow) => boolean,
): Promise<boolean> {
  return await sql.begin(async (transaction) => {
    await lockCatalog(transaction)
    const models = (await selectModels(transaction)).filter(isActive)
    const entries = kind === 'model' ? models : (await listChannels(transaction)).filter(isActive)
    if (!entries.some((one) => one.id === id)) return false
    const users = models.filter(isUser).map((model) => model.id)
    if (users.length > 0) {
      throw new OperatorError(`the ${kind} ${id} is still used by ${users.slice(0, 5).join(', ')}`)
    }
    await (kind === 'model' ? retireModels : retireChannels)(transaction, [id])
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

/** Throws CatalogError with these mistakes and those of the work, unless there are none. */
async function withMistakes<T>(mistakes: readonly Mistake[], work: Promise<T>): Promise<T> {
  const found = [...mistakes]
  try {
    const result = await work
    if (found.length === 0) return result
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    // The source is made from the name, so only the mistake in the name is reported.
    found.push(...error.mistakes.filter(({ path }) => !/^models\[\d+\]\.source$/.test(path)))
  }
  throw new CatalogError(found)
}

/**
 * Applies entries under a new source, so that they retire nothing else. Names in use are reported
 * with the other mistakes, and checked once more under the catalog's lock.
 */
async function applyEntries(
  options: EditOptions & Pick<ApplyOptions, 'madeFrom'>,
  kind: EntryKind,
  entries: readonly { readonly id: string }[],
  currency?: string,
): Promise<CatalogDiff> {
  const { sql, isNew = false, revision } = options
  const stored = isNew ? await (kind === 'channels' ? listChannels(sql) : selectModels(sql)) : []
  const taken = findTakenNames(REQUEST, kind, entries, stored)
  const creates = isNew && taken.length === 0 ? kind : undefined
  const dryRun = options.dryRun === true || taken.length > 0
  const [first] = entries
  const expected = first && revision !== undefined ? { kind, id: first.id, revision } : undefined
  const content = { ...(currency === undefined ? {} : { currency }), [kind]: entries }
  return await withMistakes(taken, applyContent({ ...options, creates, expected, dryRun }, content))
}

async function applyContent(
  options: Omit<ApplyOptions, 'files'>,
  content: object,
): Promise<CatalogDiff> {
  // Input from the network must not read the process's environment variables.
  const file = parseCatalogFile(REQUEST, JSON.stringify(content), {})
  const ids = [...file.content.channels, ...file.content.models].map(({ id }) => id)
  const named: NamedCatalogFile = { ...file, source: `${SOURCE}:${ids.join()}` }
  return await applyCatalog({ ...options, files: [named] })
}

interface Kept {
  readonly kept?: ChannelSettings
  readonly madeFrom?: ApplyOptions['madeFrom']
}

/** Returns the omitted secrets, with the version that has them. */
async function readKeptSecrets(
  { sql, upstreams, secrets }: EditOptions,
  { id, upstream, settings }: ChannelDraft,
): Promise<Kept> {
  const row = (await listChannels(sql)).find((one) => one.id === id)
  const known = Object.hasOwn(upstreams, upstream) ? upstreams[upstream] : undefined
  if (!row || !known || row.upstream !== upstream) return {}
  try {
    const opened = openSettings(row, secrets, { channelId: row.id, version: row.version })
    const kept = Object.entries(opened).filter(
      ([name]) => known.secrets.includes(name) && settings[name] === undefined,
    )
    return { kept: Object.fromEntries(kept), madeFrom: row }
  } catch (error) {
    if (error instanceof SecretError) return {}
    throw error
  }
}
