/**
 * Makes the catalog match the files, in one transaction. An entry that a file no longer names is
 * retired if an earlier version of that file added it; with `replace`, every entry that no file
 * names is retired. Applying the same files again changes nothing. A channel or model added by
 * another file is taken over: the file applied last owns it.
 */

import type { TransactionSql } from 'postgres'
import { type SecretBox, SecretError } from '../../../base/lib/secrets/secrets.ts'
import { openSettings } from '../channel-settings.ts'
import { formatPath } from '../environment.ts'
import type { Mistake } from '../mistakes.ts'
import { expectRevision, revisionOfChannel, revisionOfModel } from '../revisions.ts'
import {
  bumpRevision,
  type ChannelRow,
  isActive,
  listChannels,
  listPlanned,
  lockCatalog,
  type ModelRow,
  readRevision,
  retireChannels,
  retireModels,
  selectModels,
} from '../store.ts'
import { applyChannels } from './apply-channels.ts'
import { applyIssuers } from './apply-issuers.ts'
import { applyLists, derivePrices } from './apply-lists.ts'
import { applyModels } from './apply-models.ts'
import {
  type ApplyOptions,
  type CatalogChange,
  type ConfigurationChange,
  type EntryKind,
  StaleChannel,
} from './change.ts'
import { CatalogError, type NamedCatalogFile } from './file.ts'
import { findMistakes, findWarnings } from './file-checks.ts'
import type { FileChannel } from './file-schema.ts'
import { findTakenNames } from './taken-names.ts'

export interface CatalogDiff {
  readonly changes: readonly ConfigurationChange[]
  readonly warnings: readonly string[]
  readonly revision: bigint
}

/** Throws CatalogError with every mistake found if the files are invalid. */
export async function applyCatalog(asRead: ApplyOptions): Promise<CatalogDiff> {
  const options = { ...asRead, files: openSealedChannels(asRead.files, asRead.secrets) }
  const mistakes = findMistakes(options.files, options.upstreams, options.environment)
  if (mistakes.length > 0) throw new CatalogError(mistakes)
  const warnings = findWarnings(options.files, options.upstreams, options.environment)
  const written = new DryRun()
  try {
    return await options.sql.begin(async (sql) => {
      const wrote = await write(sql, options)
      const diff = { ...wrote, warnings: [...warnings, ...wrote.warnings] }
      if (!options.dryRun) return diff
      written.diff = diff
      throw written
    })
  } catch (error) {
    if (error === written && written.diff) return written.diff
    throw error
  }
}

/** Thrown to roll back a dry run; carries its result. */
class DryRun extends Error {
  diff: CatalogDiff | undefined
}

async function write(sql: TransactionSql, options: ApplyOptions) {
  await lockCatalog(sql)
  const channels = await listChannels(sql)
  const models = await selectModels(sql)
  refuseStale(options, channels)
  refuseTakenNames(options, { channels, models })
  await refuseChanged(sql, options, { channels, models })
  const changes = [
    ...(await applyChannels(sql, channels, options)),
    ...(await applyModels(sql, models, options)),
  ]
  const { files, replace = false, partial = false } = options
  const sources = new Set(files.flatMap(listSources))
  const named = {
    channel: new Set(files.flatMap((file) => file.content.channels.map(({ id }) => id))),
    model: new Set(files.flatMap((file) => file.content.models.map(({ id }) => id))),
  }
  const findRetired = (kind: 'channel' | 'model', rows: readonly Retirable[]) =>
    rows
      .filter((row) => !partial && isActive(row) && !named[kind].has(row.id))
      .filter((row) => replace || sources.has(row.source))
      .map(({ id }): CatalogChange => ({ kind, id, change: 'retired', what: [] }))
  const retired = [...findRetired('channel', channels), ...findRetired('model', models)]
  const idsOf = (kind: string) => retired.filter((one) => one.kind === kind).map(({ id }) => id)
  if (idsOf('channel').length > 0) await retireChannels(sql, idsOf('channel'))
  if (idsOf('model').length > 0) await retireModels(sql, idsOf('model'))
  await refuseLostRoutes(sql, files)
  await refuseLostFallbacks(sql, files)
  const listIds = new Set(files.flatMap(({ content }) => content.price_lists.map(idOf)))
  const lists = await applyLists(sql, files, (row) => {
    return !partial && !listIds.has(row.id) && (replace || sources.has(row.source))
  })
  const issuerIds = new Set(files.flatMap(({ content }) => content.token_issuers.map(idOf)))
  const issuers = await applyIssuers(sql, files, (row) => {
    return !partial && !issuerIds.has(row.id) && (replace || sources.has(row.source))
  })
  const all = [...changes, ...retired, ...lists, ...issuers]
  const further = (await options.alongside?.(sql)) ?? []
  const derived = await derivePrices(sql, files)
  // Gateways load what an account's own prices build on together with the catalog.
  const isSwitched = further.some(({ what }) => what.includes('price_list'))
  const isChanged = all.length > 0 || derived.changed.length > 0 || isSwitched
  return {
    changes: [...all, ...further],
    warnings: derived.warnings,
    revision: isChanged ? await bumpRevision(sql) : await readRevision(sql),
  }
}

const idOf = ({ id }: { readonly id: string }) => id

/** Throws StaleChannel if the files were made from an older version, under the catalog's lock. */
function refuseStale({ madeFrom }: ApplyOptions, channels: readonly ChannelRow[]): void {
  if (!madeFrom) return
  const now = channels.find(({ id }) => id === madeFrom.id)
  if (now?.version !== madeFrom.version) throw new StaleChannel(`channel ${madeFrom.id}`)
}

/** Throws CatalogError unless the entries to be created are new, under the catalog's lock. */
function refuseTakenNames(
  { creates, files }: ApplyOptions,
  stored: Readonly<Record<EntryKind, readonly Retirable[]>>,
): void {
  if (!creates) return
  const mistakes = files.flatMap(({ name, content }) =>
    findTakenNames(name, creates, content[creates], stored[creates]),
  )
  if (mistakes.length > 0) throw new CatalogError(mistakes)
}

/** Throws ChangedEntry unless the entry is as its editor has read it, under the catalog's lock. */
async function refuseChanged(
  sql: TransactionSql,
  { expected }: ApplyOptions,
  stored: { readonly channels: readonly ChannelRow[]; readonly models: readonly ModelRow[] },
): Promise<void> {
  if (!expected) return
  const { kind, id, revision } = expected
  const channel = kind === 'channels' ? stored.channels.find((row) => row.id === id) : undefined
  const model = kind === 'models' ? stored.models.find((row) => row.id === id) : undefined
  const planned = model ? (await listPlanned(sql)).filter((row) => row.model_id === id) : []
  const now = channel ? revisionOfChannel(channel) : model && revisionOfModel(model, planned)
  expectRevision(revision, now)
}

/** Returns the file's own source and those that its entries name. */
function listSources({ source, content }: NamedCatalogFile): string[] {
  const { channels, models, price_lists: lists, token_issuers: issuers } = content
  const named = [...channels, ...models, ...lists, ...issuers].flatMap(
    (entry) => entry.source ?? [],
  )
  return [source, ...named]
}

interface Retirable {
  readonly id: string
  readonly source: string
  readonly status: string
}

/** Throws CatalogError unless every route of an active model leads to an active channel. */
async function refuseLostRoutes(
  sql: TransactionSql,
  files: readonly NamedCatalogFile[],
): Promise<void> {
  const channels = await listChannels(sql)
  const active = new Set(channels.filter(isActive).map(({ id }) => id))
  const mistakes: Mistake[] = []
  for (const model of (await selectModels(sql)).filter(isActive)) {
    for (const [index, route] of model.routes.entries()) {
      if (active.has(route.channel)) continue
      mistakes.push(lostRoute(files, model, index, route.channel))
    }
  }
  if (mistakes.length > 0) throw new CatalogError(mistakes)
}

/** Throws CatalogError unless every fallback of an active model can stand in for it. */
async function refuseLostFallbacks(
  sql: TransactionSql,
  files: readonly NamedCatalogFile[],
): Promise<void> {
  const models = (await selectModels(sql)).filter(isActive)
  const mistakes = findLostFallbacks(models).map(({ model, problem }) => {
    const file = files.find(({ source }) => source === model.source) ?? files[0]
    return { file: file?.name ?? '', path: `the routes of "${model.id}"`, problem }
  })
  if (mistakes.length > 0) throw new CatalogError(mistakes)
}

function lostRoute(
  files: readonly NamedCatalogFile[],
  model: Retirable,
  routeIndex: number,
  channel: string,
): Mistake {
  for (const { name, content } of files) {
    const index = content.models.findIndex(({ id }) => id === model.id)
    if (index < 0) continue
    const path = `models[${index}].routes[${routeIndex}].channel`
    return { file: name, path, problem: `there is no channel "${channel}"` }
  }
  const file = files.find(({ source }) => source === model.source) ?? files[0]
  const user = `the model "${model.id}" of "${model.source}"`
  const problem = `the channel "${channel}" is still used by ${user}`
  return { file: file?.name ?? '', path: 'channels', problem }
}

export interface LostFallback {
  readonly model: ModelRow
  readonly problem: string
}

/** Returns the fallbacks of active models that could never serve their calls. */
function findLostFallbacks(active: readonly ModelRow[]): LostFallback[] {
  const models = new Map(active.map((model) => [model.id, model]))
  return active.flatMap((model) =>
    model.fallbacks.flatMap(({ model: id }) => {
      const problem = findProblem(model, id, models.get(id))
      return problem === undefined ? [] : [{ model, problem }]
    }),
  )
}

function findProblem(
  model: ModelRow,
  id: string,
  fallback: ModelRow | undefined,
): string | undefined {
  if (!fallback) return `there is no model "${id}"`
  if (fallback.type !== model.type) return `"${id}" is of the type ${fallback.type}`
  if (fallback.routes.length === 0) return `"${id}" has no route to a channel of its own`
  if (model.free || fallback.free || fallback.currency === model.currency) return undefined
  return `"${id}" is sold in ${fallback.currency}`
}

/** Throws CatalogError with every channel whose secrets were encrypted with another SECRET_KEY. */
function openSealedChannels(
  files: readonly NamedCatalogFile[],
  secrets: SecretBox,
): readonly NamedCatalogFile[] {
  const mistakes: Mistake[] = []
  const opened = files.map((file) => {
    const channels = file.content.channels.map((channel, index) => {
      try {
        return openOne(channel, secrets)
      } catch (error) {
        if (!(error instanceof SecretError)) throw error
        const path = formatPath(['channels', index, 'sealed'])
        const problem = `${error.message}: set the SECRET_KEY of the export, or write the secrets`
        mistakes.push({ file: file.name, path, problem: `${problem} into "settings" instead` })
        return channel
      }
    })
    return { ...file, content: { ...file.content, channels } }
  })
  if (mistakes.length > 0) throw new CatalogError(mistakes)
  return opened
}

function openOne({ sealed, ...channel }: FileChannel, secrets: SecretBox): FileChannel {
  if (!sealed) return channel
  const stored = { settings: channel.settings, secrets: Buffer.from(sealed.secrets, 'base64') }
  const place = { channelId: channel.id, version: sealed.version }
  return { ...channel, settings: openSettings(stored, secrets, place) }
}
