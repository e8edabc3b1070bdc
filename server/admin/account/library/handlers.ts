/** Gallery, asset library and files, over the stores of the public API. */

import type { AssetFilter, AssetRow } from '../../../assets/library/asset-store.ts'
import type { AssetKind } from '../../../assets/library/collect-assets.ts'
import { linkToFile } from '../../../assets/links.ts'
import type { FileRow } from '../../../assets/uploads/file-store.ts'
import { receiveFile } from '../../../endpoints/files/files.ts'
import { describeLibraryEntry } from '../../../endpoints/files/library-entry.ts'
import { formatAmount } from '../../../lib/money.ts'
import type { HandlersOf } from '../../handler.ts'
import { toPage } from '../../page.ts'
import { found, noSuch } from '../../refusal.ts'
import type { ReadQuery } from '../../route.ts'
import type { AdminServices } from '../../services.ts'
import type { libraryContract } from './contract.ts'
import { readCharges, selectRunningErases } from './store.ts'

const IMAGES = ['image'] as const
const ASSETS = ['video', 'last_frame', 'erased'] as const

type Query = ReadQuery<(typeof libraryContract)['GET /accounts/:account_id/gallery']>
type AssetsQuery = ReadQuery<(typeof libraryContract)['GET /accounts/:account_id/assets']>

async function listEntries(
  { library, sql }: AdminServices,
  accountId: string,
  kinds: readonly AssetKind[],
  { limit, cursor, from, to, model, task_id: taskId }: Query,
) {
  const filter: AssetFilter = {
    accountId,
    kinds,
    limit: limit + 1,
    ...(cursor ? { after: cursor } : {}),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
    ...(model ? { model } : {}),
    ...(taskId ? { taskId } : {}),
  }
  const rows = await library.list(filter)
  const describe = await describer({ library, sql }, accountId, rows)
  return toPage(rows, limit, ({ id }) => id, describe)
}

/**
 * Returns a function that describes entries with their tasks' charges, which it reads in one query.
 */
async function describer(
  { library, sql }: Pick<AdminServices, 'library' | 'sql'>,
  accountId: string,
  rows: readonly AssetRow[],
) {
  const requests = rows.map((row) => row.request_id)
  const charges = await readCharges(sql, accountId, requests)
  return (row: AssetRow) => {
    const charged = charges.get(row.request_id)
    const cost = charged === undefined ? null : formatAmount(charged)
    return { ...describeLibraryEntry(row, library), charged: cost }
  }
}

async function showAsset(
  services: AdminServices,
  { account_id: accountId, asset_id: id }: EntryParams,
) {
  const row = found(await services.library.find(accountId, ASSETS, id), 'asset')
  const [describe, addErase] = await Promise.all([
    describer(services, accountId, [row]),
    eraseDescriber(services, accountId),
  ])
  return addErase(describe(row))
}

interface EntryParams {
  readonly account_id: string
  readonly asset_id: string
}

async function listAssets(services: AdminServices, accountId: string, query: AssetsQuery) {
  const [page, describe] = await Promise.all([
    listEntries(services, accountId, query.kind ? [query.kind] : ASSETS, query),
    eraseDescriber(services, accountId),
  ])
  return { ...page, data: page.data.map(describe) }
}

/** Returns a function that tells whether a video's copy without subtitles is in progress. */
async function eraseDescriber({ sql }: AdminServices, accountId: string) {
  const running = await selectRunningErases(sql, accountId)
  const byVideo = new Map(running.map((one) => [one.video_task_id, one]))
  return <Entry extends { readonly kind: AssetKind; readonly task_id: string }>(entry: Entry) => {
    const task = entry.kind === 'video' ? byVideo.get(entry.task_id) : undefined
    const erasing = task ? { task_id: task.task_id, since: task.created_at.toISOString() } : null
    return { ...entry, erasing }
  }
}

async function removeEntry(
  { library }: AdminServices,
  params: EntryParams,
  kinds: readonly AssetKind[],
): Promise<undefined> {
  const { account_id: accountId, asset_id: id } = params
  if (!(await library.remove(accountId, kinds, id))) throw noSuch('asset')
}

function describeFile(row: FileRow, publicUrl: string) {
  return {
    id: row.id,
    filename: row.filename,
    purpose: row.purpose,
    bytes: Number(row.bytes),
    content_type: row.content_type,
    url: linkToFile(publicUrl, row),
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  }
}

export const libraryHandlers: HandlersOf<typeof libraryContract> = {
  'GET /accounts/:account_id/gallery': ({ params, query }, services) =>
    listEntries(services, params.account_id, IMAGES, query),
  'DELETE /accounts/:account_id/gallery/:asset_id': ({ params }, services) =>
    removeEntry(services, params, IMAGES),
  'GET /accounts/:account_id/assets': ({ params, query }, services) =>
    listAssets(services, params.account_id, query),
  'GET /accounts/:account_id/assets/:asset_id': ({ params }, services) =>
    showAsset(services, params),
  'DELETE /accounts/:account_id/assets/:asset_id': ({ params }, services) =>
    removeEntry(services, params, ASSETS),
  async 'GET /accounts/:account_id/files'({ params, query }, { files, publicUrl }) {
    const accountId = params.account_id
    const { limit, cursor, purpose } = query
    const after = cursor === undefined ? undefined : await files.find(accountId, cursor)
    if (cursor !== undefined && !after) return { data: [], next_cursor: null }
    const page = { accountId, newestFirst: true, purpose, after, limit: limit + 1 }
    const rows = await files.list(page)
    return toPage(
      rows,
      limit,
      ({ id }) => id,
      (row) => describeFile(row, publicUrl),
    )
  },
  async 'POST /accounts/:account_id/files'({ context, params }, { files, publicUrl }) {
    const { file } = await receiveFile(context, params.account_id, files)
    return describeFile(file, publicUrl)
  },
  async 'DELETE /accounts/:account_id/files/:file_id'({ params }, { files }) {
    if (!(await files.remove(params.account_id, params.file_id))) throw noSuch('file')
  },
}
