/** Files of accounts: bytes first, then the row, so that a row never promises what is not there. */
import type { Readable } from 'node:stream'
import type { Sql } from 'postgres'
import { withTransaction } from '../database/transaction.ts'
import { GatewayError } from '../errors.ts'
import { newId, randomText } from '../lib/ids.ts'
import type { Blob, Blobs } from './blobs.ts'
import {
  deleteExpiredFiles,
  deleteFile,
  type FilePage,
  type FileRow,
  findFile,
  findFileByToken,
  insertFile,
  listFiles,
} from './file-store.ts'
import type { Quota } from './quota.ts'
import { sniffType } from './sniff-type.ts'
import { type ByteRange, StorageTrouble, TooManyBytes } from './storage.ts'

/** Spec part 8: smaller than 1 GB. */
const FILE_BYTES_MAX = 1_000_000_000 - 1
const EXPIRED_AT_ONCE = 100
const TOKEN_CHARACTERS = 40
const TOKEN = /^[A-Za-z0-9]{40}$/
const ID = /^file_[A-Za-z0-9]{1,64}$/

export interface Upload {
  readonly accountId: string
  readonly filename: string
  readonly content: Readable
  /** Known once the content has been read, since fields may come after the file. */
  readonly fields: () => { readonly purpose: string; readonly lifeSeconds: number }
}

export interface Files {
  /** Throws GatewayError: 413 beyond the limits, 400 for an upload that broke off or is empty. */
  add(upload: Upload): Promise<FileRow>
  find(accountId: string, id: string): Promise<FileRow | undefined>
  findByToken(token: string): Promise<FileRow | undefined>
  list(page: FilePage): Promise<readonly FileRow[]>
  /** False when there was none. */
  remove(accountId: string, id: string): Promise<boolean>
  /** Rejects when the bytes are not there. */
  read(file: FileRow, range?: ByteRange): Promise<Readable>
  /** Deletes files whose time is over, and says how many there were. */
  removeExpired(): Promise<number>
}

export function createFiles(parts: {
  readonly sql: Sql
  readonly blobs: Blobs
  readonly quota: Quota
}): Files {
  const { sql, blobs, quota } = parts

  function insert(upload: Upload, blob: Blob): Promise<FileRow> {
    const { accountId, filename } = upload
    if (blob.bytes === 0) throw invalid('file is empty')
    const { purpose, lifeSeconds } = upload.fields()
    return withTransaction(sql, async (transaction) => {
      await quota.claim(transaction, accountId, blob.bytes)
      await blobs.adopt(transaction, blob.key)
      return insertFile(transaction, {
        ...{ id: newId('file'), account_id: accountId, filename, purpose },
        token: randomText(TOKEN_CHARACTERS),
        storage_key: blob.key,
        content_type: sniffType(blob.head),
        bytes: BigInt(blob.bytes),
        expires_at: new Date(Date.now() + lifeSeconds * 1000),
      })
    })
  }

  return {
    async add(upload) {
      const left = await quota.left(upload.accountId)
      const limit = Math.min(FILE_BYTES_MAX, left)
      const blob = await blobs.write(upload.content, limit).catch((cause: unknown) => {
        throw refusalOf(cause, left)
      })
      try {
        return await insert(upload, blob)
      } catch (error) {
        await blobs.clear(blob.key)
        throw error
      }
    },
    async find(accountId, id) {
      return ID.test(id) ? findFile(sql, accountId, id) : undefined
    },
    async findByToken(token) {
      return TOKEN.test(token) ? findFileByToken(sql, token) : undefined
    },
    list: (page) => listFiles(sql, page),
    async remove(accountId, id) {
      if (!ID.test(id)) return false
      const row = await withTransaction(sql, async (transaction) => {
        const deleted = await deleteFile(transaction, accountId, id)
        if (deleted) await blobs.release(transaction, deleted.storage_key)
        return deleted
      })
      if (row) await blobs.clear(row.storage_key)
      return row !== undefined
    },
    read: (file, range) => blobs.read(file.storage_key, range),
    removeExpired: () => deleteExpiredFiles(sql, EXPIRED_AT_ONCE),
  }
}

function invalid(message: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', { message, param: 'file', cause })
}

function refusalOf(cause: unknown, left: number): GatewayError {
  if (cause instanceof GatewayError) return cause
  if (cause instanceof TooManyBytes) {
    const message =
      left < FILE_BYTES_MAX
        ? `this account may store ${left} bytes more: delete files or media to make room`
        : 'file is too large: it must be below 1 GB'
    return new GatewayError('too_large', { message })
  }
  if (cause instanceof StorageTrouble) return new GatewayError('unavailable', { cause })
  return invalid('the upload broke off', cause)
}
