/** The SQL of gallery entries. Every read is bound to an account or to an unguessable token. */

import type { Sql, TransactionSql } from 'postgres'
import { behind, during, equal } from '../../../base/database/conditions.ts'
import type { AssetKind, COPY_STATES } from '../../../base/lib/kinds-and-states.ts'

/** The channel that wakes the copiers of every gateway when a transaction commits. */
export const ASSET_NOTIFICATIONS = 'tributary_asset'

export interface NewAsset {
  readonly id: string
  readonly accountId: string
  readonly kind: AssetKind
  readonly taskId: string
  readonly position: number
  readonly requestId: string
  readonly model: string
  readonly prompt: string | null
  readonly originalTaskId: string | null
  readonly sourceUrl: string
  readonly sourceExpiresAt: Date
  readonly token: string
  readonly width: number | null
  readonly height: number | null
  readonly seconds: number | null
}

export interface ContentRow {
  readonly url: string
  readonly token: string
  readonly storageKey: string
  readonly contentType: string
  readonly bytes: number
  readonly sha256: Buffer
  readonly width: number | undefined
  readonly height: number | undefined
}

export interface AssetRow {
  readonly id: string
  readonly account_id: string
  readonly kind: AssetKind
  readonly task_id: string
  readonly position: number
  readonly request_id: string
  readonly model: string
  readonly prompt: string | null
  readonly original_id: string | null
  readonly source_url: string
  readonly source_expires_at: Date
  readonly source_lives: boolean
  readonly token: string
  readonly state: (typeof COPY_STATES)[number]
  readonly failure: string | null
  readonly storage_key: string | null
  readonly content_type: string | null
  readonly bytes: bigint | null
  /** Null also for results that were stored before the column existed. */
  readonly sha256: Buffer | null
  readonly width: number | null
  readonly height: number | null
  readonly seconds: number | null
  readonly created_at: Date
  readonly stored_at: Date | null
}

/** Inserts an asset. An existing one stays as it is: ending a task may be repeated. */
export async function insertAsset(sql: TransactionSql, asset: NewAsset): Promise<void> {
  await sql`
    with inserted as (
      insert into asset (id, account_id, kind, task_id, position, request_id, model, prompt,
        original_id, source_url, source_expires_at, token, width, height, seconds)
      values (${asset.id}, ${asset.accountId}, ${asset.kind}, ${asset.taskId}, ${asset.position},
        ${asset.requestId}, ${asset.model},
        case when (select keeps_prompts from account where id = ${asset.accountId}) is not false
          then ${asset.prompt} end,
        (select id from asset where task_id = ${asset.originalTaskId}
          and account_id = ${asset.accountId} and kind = 'video' limit 1),
        ${asset.sourceUrl}, ${asset.sourceExpiresAt}, ${asset.token}, ${asset.width},
        ${asset.height}, ${asset.seconds})
      on conflict (task_id, kind, position) do nothing
      returning 1)
    select pg_notify(${ASSET_NOTIFICATIONS}, '') from inserted`
}

/** Marks an entry as stored with content already in storage. False when no entry matches. */
export async function storeContentRow(
  sql: TransactionSql,
  task: { readonly id: string; readonly account_id: string },
  content: ContentRow,
): Promise<boolean> {
  const stored = await sql`
    update asset set state = 'stored', due_at = null, stored_at = now(), token = ${content.token},
      storage_key = ${content.storageKey}, content_type = ${content.contentType},
      bytes = ${content.bytes}, sha256 = ${content.sha256},
      width = coalesce(${content.width ?? null}, width),
      height = coalesce(${content.height ?? null}, height)
    where task_id = ${task.id} and account_id = ${task.account_id}
      and source_url = ${content.url} and state = 'waiting'`
  return stored.count === 1
}

function columns(sql: Sql) {
  return sql`id, account_id, kind, task_id, position, request_id, model, prompt, original_id,
    source_url, source_expires_at, source_expires_at > now() as source_lives, token, state, failure,
    storage_key, content_type, bytes, sha256, width, height, seconds, created_at, stored_at`
}

export interface AssetFilter {
  readonly accountId: string
  readonly kinds: readonly AssetKind[]
  readonly limit: number
  /** The id of the last asset of the page before. */
  readonly after?: string | undefined
  /** Created at or after this time. */
  readonly from?: Date | undefined
  /** Created before this time. */
  readonly to?: Date | undefined
  readonly model?: string | undefined
  readonly taskId?: string | undefined
}

/** Returns one page of an account's assets, the newest first. */
export function selectAssets(sql: Sql, filter: AssetFilter): Promise<AssetRow[]> {
  const { accountId, kinds, limit, after, model, taskId } = filter
  return sql<AssetRow[]>`
    select ${columns(sql)} from asset
    where account_id = ${accountId} and kind = any(${kinds as string[]}::text[])
      ${during(sql, 'created_at', filter)} ${equal(sql, { model, task_id: taskId })}
      ${behind(sql, 'asset', after, { accountId })}
    order by created_at desc, id desc limit ${limit}`
}

export async function selectAsset(
  sql: Sql,
  accountId: string,
  kinds: readonly AssetKind[],
  id: string,
): Promise<AssetRow | undefined> {
  const [row] = await sql<AssetRow[]>`
    select ${columns(sql)} from asset
    where id = ${id} and account_id = ${accountId} and kind = any(${kinds as string[]}::text[])`
  return row
}

export async function selectAssetByToken(sql: Sql, token: string): Promise<AssetRow | undefined> {
  const [row] = await sql<AssetRow[]>`
    select ${columns(sql)} from asset where token = ${token}`
  return row
}

export type AssetLink = Pick<
  AssetRow,
  'task_id' | 'kind' | 'position' | 'source_url' | 'token' | 'content_type'
>

/** Returns the links of an account's tasks; with a state, of the assets in it. */
export function selectLinks(
  sql: Sql | TransactionSql,
  accountId: string,
  taskIds: readonly string[],
  state?: AssetRow['state'],
): Promise<AssetLink[]> {
  return sql<AssetLink[]>`
    select task_id, kind, position, source_url, token, content_type from asset
    where account_id = ${accountId} and task_id = any(${taskIds as string[]}::text[])
      ${state === undefined ? sql`` : sql`and state = ${state}`}`
}

export type DeletedAsset = Pick<AssetRow, 'storage_key' | 'task_id' | 'kind' | 'position'>

/** Deletes an entry. A copy in progress then fails to store its result. */
export async function deleteAssetRow(
  sql: TransactionSql,
  accountId: string,
  kinds: readonly AssetKind[],
  id: string,
): Promise<DeletedAsset | undefined> {
  const [row] = await sql<DeletedAsset[]>`
    delete from asset
    where id = ${id} and account_id = ${accountId} and kind = any(${kinds as string[]}::text[])
    returning storage_key, task_id, kind, position`
  return row
}

/** Removes the vendor's link and revised prompt of a deleted entry from its task's result. */
export async function forgetInTask(
  sql: TransactionSql,
  accountId: string,
  { task_id: taskId, kind, position }: DeletedAsset,
): Promise<void> {
  const place = ['data', String(position)]
  const link = [...place, 'url']
  const prompt = [...place, 'revised_prompt']
  await sql`
    update task set result = case ${kind}::text
      when 'image' then result #- ${link}::text[] #- ${prompt}::text[]
      when 'last_frame' then result - 'last_frame_url'
      else result - 'video_url' end
    where id = ${taskId} and account_id = ${accountId}`
}
