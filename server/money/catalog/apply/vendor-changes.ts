/**
 * Adds chosen channels and models of a vendor's price book. The entries belong to the same source
 * as with `tributary catalog add`; those that are not chosen stay as they are.
 */
import { OperatorError } from '../../../base/lib/operator-error.ts'
import type { ChannelSettings } from '../channel-settings.ts'
import { isActive, listChannels, type ModelRow, selectModels } from '../store.ts'
import { applyCatalog, type CatalogDiff } from './apply.ts'
import type { Difference } from './change.ts'
import type { EditOptions } from './edit.ts'
import { parseCatalogFile } from './file.ts'
import type { FileModel } from './file-schema.ts'
import type { Vendor } from './vendors.ts'

export interface ReviewedModel {
  readonly model: FileModel
  /** The model as it is; undefined if it is not for sale. */
  readonly current: ModelRow | undefined
  readonly change: 'new' | 'changed' | 'unchanged'
  readonly differences: readonly Difference[]
  /** The model was last changed by something other than this price book. */
  readonly isOwn: boolean
}

export interface VendorReview {
  readonly models: readonly ReviewedModel[]
  /** Ids of the vendor's existing channels. */
  readonly channels: ReadonlySet<string>
  /** Models from this price book that it no longer contains. */
  readonly dropped: readonly string[]
}

/** Compares a vendor's price book with the catalog, by a dry run of all of it. */
export async function reviewVendor(options: EditOptions, vendor: Vendor): Promise<VendorReview> {
  const { file } = vendor
  const [rows, channels] = [await selectModels(options.sql), await listChannels(options.sql)]
  const diff = await applyCatalog({ ...options, files: [file], partial: true, dryRun: true })
  const changes = new Map(diff.changes.map((one) => [`${one.kind} ${one.id}`, one]))
  const active = new Map(rows.filter(isActive).map((row) => [row.id, row]))
  const listed = new Set(file.content.models.map(({ id }) => id))
  return {
    channels: new Set(channels.filter(isActive).map(({ id }) => id)),
    dropped: [...active.values()]
      .filter(({ id, source }) => source === file.source && !listed.has(id))
      .map(({ id }) => id),
    models: file.content.models.map((model) => {
      const current = active.get(model.id)
      const { differences = [] } = changes.get(`model ${model.id}`) ?? {}
      const change = !current ? 'new' : differences.length > 0 ? 'changed' : 'unchanged'
      return {
        model,
        current,
        change,
        differences: current ? differences : [],
        isOwn: current !== undefined && current.source !== file.source,
      }
    }),
  }
}

export interface VendorChoice {
  readonly channels: readonly {
    /** The channel of the price book that it is made from. */
    readonly preset: string
    readonly id: string
    /** Settings besides or instead of those of the price book. */
    readonly settings: ChannelSettings
  }[]
  readonly models: readonly string[]
}

/** Applies what was chosen. Throws OperatorError for names that the price book does not have. */
export async function applyVendor(
  options: EditOptions,
  vendor: Vendor,
  choice: VendorChoice,
): Promise<CatalogDiff> {
  const raw: RawFile = JSON.parse(vendor.text)
  const content = {
    ...raw,
    channels: choice.channels.map(({ preset, id, settings }) => {
      const known = pick(vendor, raw.channels, preset)
      return { ...known, id, settings: { ...known.settings, ...settings } }
    }),
    models: choice.models.map((id) => pick(vendor, raw.models, id)),
  }
  // Input from the network must not read the process's environment variables.
  const file = parseCatalogFile(vendor.name, JSON.stringify(content), {})
  return await applyCatalog({ ...options, files: [file], partial: true, creates: 'channels' })
}

interface RawFile {
  readonly channels: readonly { readonly id: string; readonly settings: ChannelSettings }[]
  readonly models: readonly { readonly id: string }[]
}

function pick<Entry extends { readonly id: string }>(
  vendor: Vendor,
  entries: readonly Entry[],
  id: string,
): Entry {
  const found = entries.find((one) => one.id === id)
  if (found) return found
  throw new OperatorError(`the price book of ${vendor.name} has no "${id}"`)
}
