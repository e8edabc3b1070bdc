/**
 * Makes the catalog match the files, in one transaction. An entry that a file no longer names is
 * retired if an earlier version of that file added it; with `replace`, every entry that no file
 * names is retired. Applying the same files again changes nothing. A channel or model added by
 * another file is taken over: the file applied last owns it.
 */

import type { TransactionSql } from 'postgres'
import type { Mistake } from '../mistakes.ts'
import {
  bumpRevision,
  isActive,
  listChannels,
  lockCatalog,
  readRevision,
  retireChannels,
  retireModels,
  selectModels,
} from '../store.ts'
import { applyChannels } from './apply-channels.ts'
import { applyIssuers } from './apply-issuers.ts'
import { applyLists, derivePrices } from './apply-lists.ts'
import { applyModels } from './apply-models.ts'
import type { ApplyOptions, CatalogChange, ConfigurationChange, EntryKind } from './change.ts'
import { findLostFallbacks } from './check-fallbacks.ts'
import { CatalogError, type NamedCatalogFile } from './file.ts'
import { findMistakes, findWarnings } from './file-checks.ts'
import { openSealedChannels } from './open-sealed.ts'
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
  refuseTakenNames(options, { channels, models })
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
  // Gateways load what an own list builds on with the catalog.
  const isSwitched = further.some(({ what }) => what.includes('price_list'))
  const isChanged = all.length > 0 || derived.changed.length > 0 || isSwitched
  return {
    changes: [...all, ...further],
    warnings: derived.warnings,
    revision: isChanged ? await bumpRevision(sql) : await readRevision(sql),
  }
}

const idOf = ({ id }: { readonly id: string }) => id

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
