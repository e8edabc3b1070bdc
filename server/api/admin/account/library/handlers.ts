/** Gallery, asset library and files, over the stores of the public API. */

import { toPage } from '../../../../base/http/page.ts'
import { type AssetKind, FILM_KINDS } from '../../../../base/lib/kinds-and-states.ts'
import type { AssetRow } from '../../../../work/assets/library/asset-store.ts'
import { linkToFile } from '../../../../work/assets/links.ts'
import type { FileRow } from '../../../../work/assets/uploads/file-store.ts'
import { receiveFile } from '../../../endpoints/files/files.ts'
import { readEntry } from '../../../endpoints/files/library-entry.ts'
import type { HandlersOf } from '../../handler.ts'
import { found, noSuch } from '../../refusal.ts'
import type { ReadQuery } from '../../route.ts'
import type { AdminServices } from '../../services.ts'
import type { libraryContract } from './contract.ts'
import { readCharges, selectRunningErases } from './store.ts'

const IMAGES = ['image'] as const

type Query = ReadQuery<(typeof libraryContract)['GET /accounts/:account_id/gallery']>
type AssetsQuery = ReadQuery<(typeof libraryContract)['GET /accounts/:account_id/assets']>

interface EntryParams {
  readonly account_id: string
  readonly asset_id: string
}

async function listEntries(
  services: AdminServices,
  accountId: string,
  kinds: readonly AssetKind[],
  { limit, cursor: after, task_id: taskId, from, to, model }: Query,
) {
  const filter = { accountId, kinds, after, from, to, model, taskId, limit: limit + 1 }
  const page = toPage(await services.library.list(filter), limit, 'id')
  return { ...page, data: await addCharges(services, accountId, page.data) }
}

/** Returns entries with their tasks' charges, which are read in one query. */
async function addCharges(
  { library, sql }: AdminServices,
  accountId: string,
  rows: readonly AssetRow[],
) {
  const requests = rows.map((row) => row.request_id)
  const charges = await readCharges(sql, accountId, requests)
  return rows.map((row) => {
    return { ...readEntry(row, library), charged: charges.get(row.request_id) ?? null }
  })
}

async function readAsset(
  services: AdminServices,
  { account_id: accountId, asset_id: id }: EntryParams,
) {
  const row = found(await services.library.find(accountId, FILM_KINDS, id), 'asset')
  const entries = await addCharges(services, accountId, [row])
  const [asset] = await addErasing(services, accountId, entries)
  return found(asset, 'asset')
}

async function listAssets(services: AdminServices, accountId: string, query: AssetsQuery) {
  const kinds = query.kind ? [query.kind] : FILM_KINDS
  const page = await listEntries(services, accountId, kinds, query)
  return { ...page, data: await addErasing(services, accountId, page.data) }
}

/** Adds whether a video's copy without subtitles is in progress. */
async function addErasing<Entry extends { readonly kind: AssetKind; readonly task_id: string }>(
  { sql }: AdminServices,
  accountId: string,
  entries: readonly Entry[],
) {
  const running = await selectRunningErases(sql, accountId)
  const byVideo = new Map(running.map((one) => [one.video_task_id, one]))
  return entries.map((entry) => {
    const task = entry.kind === 'video' ? byVideo.get(entry.task_id) : undefined
    return { ...entry, erasing: task ?? null }
  })
}

async function removeEntry(
  { library }: AdminServices,
  params: EntryParams,
  kinds: readonly AssetKind[],
): Promise<undefined> {
  const { account_id: accountId, asset_id: id } = params
  if (!(await library.remove(accountId, kinds, id))) throw noSuch('asset')
}

function readFile(row: FileRow, publicUrl: string) {
  return { ...row, url: linkToFile(publicUrl, row) }
}

export const libraryHandlers: HandlersOf<typeof libraryContract> = {
  'GET /accounts/:account_id/gallery': ({ params, query }, services) =>
    listEntries(services, params.account_id, IMAGES, query),
  'DELETE /accounts/:account_id/gallery/:asset_id': ({ params }, services) =>
    removeEntry(services, params, IMAGES),
  'GET /accounts/:account_id/assets': ({ params, query }, services) =>
    listAssets(services, params.account_id, query),
  'GET /accounts/:account_id/assets/:asset_id': ({ params }, services) =>
    readAsset(services, params),
  'DELETE /accounts/:account_id/assets/:asset_id': ({ params }, services) =>
    removeEntry(services, params, FILM_KINDS),
  async 'GET /accounts/:account_id/files'({ params, query }, { files, publicUrl }) {
    const accountId = params.account_id
    const { limit, cursor, purpose } = query
    const after = cursor === undefined ? undefined : await files.find(accountId, cursor)
    if (cursor !== undefined && !after) return { data: [], next_cursor: null }
    const page = { accountId, newestFirst: true, purpose, after, limit: limit + 1 }
    const rows = await files.list(page)
    return toPage(
      rows.map((row) => readFile(row, publicUrl)),
      limit,
      'id',
    )
  },
  async 'POST /accounts/:account_id/files'({ context, params }, { files, publicUrl }) {
    const { file } = await receiveFile(context, params.account_id, files)
    return readFile(file, publicUrl)
  },
  async 'DELETE /accounts/:account_id/files/:file_id'({ params }, { files }) {
    if (!(await files.remove(params.account_id, params.file_id))) throw noSuch('file')
  },
}
