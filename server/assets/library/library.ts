/**
 * The gallery and the asset library of an account: what its tasks made, where it can be fetched,
 * and how far the copy into our own storage has come.
 */
import type { Readable } from 'node:stream'
import type { Sql, TransactionSql } from 'postgres'
import { withTransaction } from '../../database/transaction.ts'
import { newId, randomText } from '../../lib/ids.ts'
import type { JsonObject } from '../../lib/json.ts'
import { linkTo, TOKEN_CHARACTERS } from '../links.ts'
import type { Blobs } from '../storage/blobs.ts'
import type { ByteRange } from '../storage/storage.ts'
import {
  type AssetFilter,
  type AssetRow,
  deleteAssetRow,
  forgetInTask,
  insertAsset,
  selectAsset,
  selectAssetByToken,
  selectAssets,
  selectStoredLinks,
} from './asset-store.ts'
import {
  type AssetKind,
  collectAssets,
  type FinishedTask,
  type MadeAsset,
  replaceLinks,
} from './collect-assets.ts'
import { readLinkExpiry } from './link-expiry.ts'

const TOKEN = /^[A-Za-z0-9]{40}$/
const ID = /^asset_[A-Za-z0-9]{1,64}$/

/** A task whose result may be shown with our own links. */
interface ShownTask {
  readonly id: string
  readonly account_id: string
  readonly result: JsonObject | null
}

export interface Library {
  list(filter: AssetFilter): Promise<readonly AssetRow[]>
  find(accountId: string, kinds: readonly AssetKind[], id: string): Promise<AssetRow | undefined>
  /** Only what is stored. */
  findByToken(token: string): Promise<AssetRow | undefined>
  /** Deletes the entry, its bytes and its task's link to it. False when there was none. */
  remove(accountId: string, kinds: readonly AssetKind[], id: string): Promise<boolean>
  /** Rejects when the bytes are not there. */
  read(asset: AssetRow, range?: ByteRange): Promise<Readable>
  /** Where anybody can fetch it now: at ours, else at the vendor's while that lives. */
  linkOf(asset: AssetRow): string | undefined
  /** The same tasks, of one account, with our links in their results where we have a copy. */
  withOwnLinks<Task extends ShownTask>(tasks: readonly Task[]): Promise<readonly Task[]>
}

export function createLibrary(parts: {
  readonly sql: Sql
  readonly blobs: Blobs
  /** How callers reach this gateway. */
  readonly publicUrl: string
}): Library {
  const { sql, blobs, publicUrl } = parts

  const ownLink = (asset: Pick<AssetRow, 'token' | 'kind' | 'content_type'>) =>
    linkTo(publicUrl, asset)

  return {
    list: (filter) =>
      filter.after === undefined || ID.test(filter.after)
        ? selectAssets(sql, filter)
        : Promise.resolve([]),
    find: async (accountId, kinds, id) =>
      ID.test(id) ? selectAsset(sql, accountId, kinds, id) : undefined,
    findByToken: async (token) => (TOKEN.test(token) ? selectAssetByToken(sql, token) : undefined),
    async remove(accountId, kinds, id) {
      if (!ID.test(id)) return false
      const deleted = await withTransaction(sql, async (transaction) => {
        const row = await deleteAssetRow(transaction, accountId, kinds, id)
        if (row) await forgetInTask(transaction, row)
        if (row?.storage_key) await blobs.release(transaction, row.storage_key)
        return row
      })
      if (deleted?.storage_key) await blobs.clear(deleted.storage_key)
      return deleted !== undefined
    },
    async read({ storage_key: key }, range) {
      if (key === null) throw new Error('an asset that is not stored cannot be read')
      return blobs.read(key, range)
    },
    linkOf(asset) {
      if (asset.state === 'stored') return ownLink(asset)
      return asset.source_lives ? asset.source_url : undefined
    },
    async withOwnLinks(tasks) {
      const [first] = tasks
      const finished = tasks.filter(({ result }) => result !== null).map(({ id }) => id)
      if (!first || finished.length === 0) return tasks
      const stored = await selectStoredLinks(sql, first.account_id, finished)
      if (stored.length === 0) return tasks
      const links = new Map(stored.map((one) => [one.source_url, ownLink(one)]))
      return tasks.map((task) => ({ ...task, result: ownResult(task.result, links) }))
    },
  }
}

function ownResult(result: JsonObject | null, links: ReadonlyMap<string, string>) {
  return result === null ? null : (replaceLinks(result, links) as JsonObject)
}

/**
 * Writes the entries of a task that succeeds, in the transaction that ends it. A result that names
 * no media makes none.
 */
export async function addToLibrary(transaction: TransactionSql, task: FinishedTask): Promise<void> {
  for (const made of collectAssets(task)) await insertAsset(transaction, toRow(task, made))
}

function toRow(task: FinishedTask, made: MadeAsset) {
  return {
    id: newId('asset'),
    accountId: task.account_id,
    kind: made.kind,
    taskId: task.id,
    position: made.position,
    requestId: task.request_id,
    model: task.model,
    prompt: made.prompt ?? null,
    originalTaskId: made.originalTaskId ?? null,
    sourceUrl: made.sourceUrl,
    sourceExpiresAt: readLinkExpiry(made.sourceUrl, task.finished_at ?? new Date()),
    token: randomText(TOKEN_CHARACTERS),
    width: made.width ?? null,
    height: made.height ?? null,
    seconds: made.seconds ?? null,
  }
}
