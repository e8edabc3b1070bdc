/**
 * The gallery and asset library of an account: its tasks' results, their links, and the state of
 * their copies in our storage.
 */

import type { Readable } from 'node:stream'
import type { Sql, TransactionSql } from 'postgres'
import { withTransaction } from '../../../base/database/transaction.ts'
import { newId, randomText } from '../../../base/lib/ids.ts'
import type { JsonObject } from '../../../base/lib/json.ts'
import type { AssetKind } from '../../../base/lib/kinds-and-states.ts'
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
  selectLinks,
} from './asset-store.ts'
import {
  collectAssets,
  type FinishedTask,
  type ResultAsset,
  replaceLinks,
} from './collect-assets.ts'
import { readLinkExpiry } from './link-expiry.ts'

const TOKEN = /^[A-Za-z0-9]{40}$/
const ID = /^asset_[A-Za-z0-9]{1,64}$/

/** The members of a task that `withOwnLinks` needs. */
interface ShownTask {
  readonly id: string
  readonly account_id: string
  readonly result: JsonObject | null
}

export interface Library {
  list(filter: AssetFilter): Promise<readonly AssetRow[]>
  find(accountId: string, kinds: readonly AssetKind[], id: string): Promise<AssetRow | undefined>
  findByToken(token: string): Promise<AssetRow | undefined>
  /** Deletes the entry, its bytes and its link in the task's result. False when there is none. */
  remove(accountId: string, kinds: readonly AssetKind[], id: string): Promise<boolean>
  /** Opens the content. Rejects when it is missing. */
  read(asset: AssetRow, range?: ByteRange): Promise<Readable>
  /** Returns our link for stored content, else the vendor's link until it expires. */
  linkOf(asset: AssetRow): string | undefined
  /** Returns tasks of one account with our links in their results wherever a copy is stored. */
  withOwnLinks<Task extends ShownTask>(tasks: readonly Task[]): Promise<readonly Task[]>
}

export function createLibrary(parts: {
  readonly sql: Sql
  readonly blobs: Blobs
  /** The origin under which callers reach this gateway. */
  readonly publicUrl: string
}): Library {
  const { sql, blobs, publicUrl } = parts

  const ownLink = (asset: Pick<AssetRow, 'token' | 'kind' | 'content_type' | 'source_url'>) =>
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
        if (row) await forgetInTask(transaction, accountId, row)
        if (row?.storage_key) await blobs.release(transaction, row.storage_key)
        return row
      })
      if (deleted?.storage_key) await blobs.clear(deleted.storage_key)
      return deleted !== undefined
    },
    async read({ storage_key: key, bytes, sha256 }, range) {
      if (key === null) throw new Error('an asset that is not stored cannot be read')
      return blobs.readStated({ key, bytes: Number(bytes), sha256 }, range)
    },
    linkOf(asset) {
      if (asset.state === 'stored') return ownLink(asset)
      return asset.source_lives ? asset.source_url : undefined
    },
    async withOwnLinks(tasks) {
      const [first] = tasks
      const finished = tasks.filter(({ result }) => result !== null).map(({ id }) => id)
      if (!first || finished.length === 0) return tasks
      const stored = await selectLinks(sql, first.account_id, finished, 'stored')
      if (stored.length === 0) return tasks
      const links = new Map(stored.map((link) => [link.source_url, ownLink(link)]))
      return tasks.map((task) => ({ ...task, result: ownResult(task.result, links) }))
    },
  }
}

function ownResult(result: JsonObject | null, links: ReadonlyMap<string, string>) {
  return result === null ? null : (replaceLinks(result, links) as JsonObject)
}

/**
 * Inserts the gallery entries of a succeeded task, in the transaction that ends it. A result
 * without media adds none.
 */
export async function addToLibrary(transaction: TransactionSql, task: FinishedTask): Promise<void> {
  for (const asset of collectAssets(task)) await insertAsset(transaction, toRow(task, asset))
}

/**
 * Returns the task's result with our links in place of the vendor's, which expire. Until a copy is
 * stored, our link redirects to the vendor's.
 */
export async function withLastingLinks(
  transaction: TransactionSql,
  task: ShownTask,
  publicUrl: string,
): Promise<JsonObject | null> {
  const rows = await selectLinks(transaction, task.account_id, [task.id])
  const links = new Map(rows.map((row) => [row.source_url, linkTo(publicUrl, row)]))
  return ownResult(task.result, links)
}

function toRow(task: FinishedTask, asset: ResultAsset) {
  return {
    id: newId('asset'),
    accountId: task.account_id,
    kind: asset.kind,
    taskId: task.id,
    position: asset.position,
    requestId: task.request_id,
    model: task.model,
    prompt: asset.prompt ?? null,
    originalTaskId: asset.originalTaskId ?? null,
    sourceUrl: asset.sourceUrl,
    sourceExpiresAt: readLinkExpiry(asset.sourceUrl, task.finished_at ?? new Date()),
    token: randomText(TOKEN_CHARACTERS),
    width: asset.width ?? null,
    height: asset.height ?? null,
    seconds: asset.seconds ?? null,
  }
}
