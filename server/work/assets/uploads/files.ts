/** Files of accounts. Content is stored before its row, so that every row has content. */
import type { Readable } from 'node:stream'
import { withTransaction } from '../../../base/database/transaction.ts'
import type { StorageUsage } from '../quota.ts'
import type { ByteRange } from '../storage/storage.ts'
import { type AddParts, addFile, type FileUpload, type Uploaded } from './add-file.ts'
import {
  deleteExpiredFiles,
  deleteFile,
  type FilePage,
  type FileRow,
  findFile,
  findFileByToken,
  listFiles,
} from './file-store.ts'

const EXPIRED_PER_RUN = 100
const TOKEN = /^[A-Za-z0-9]{40}$/
const ID = /^file_[A-Za-z0-9]{1,64}$/

export interface Files {
  /** Adds a file. Rejects with GatewayError 400, 413, 422, 429 or 503. */
  add(upload: FileUpload): Promise<Uploaded>
  find(accountId: string, id: string): Promise<FileRow | undefined>
  findByToken(token: string): Promise<FileRow | undefined>
  list(page: FilePage): Promise<readonly FileRow[]>
  /** Deletes a file and its content. False when there is none. */
  remove(accountId: string, id: string): Promise<boolean>
  /** Opens the content. Rejects when it is missing. */
  read(file: FileRow, range?: ByteRange): Promise<Readable>
  /** Returns the bytes that the account stores, files and media together, and its limit. */
  storage(accountId: string): Promise<StorageUsage>
  /** Deletes expired files. Returns their number. */
  removeExpired(): Promise<number>
}

export function createFiles(parts: AddParts): Files {
  const { sql, blobs } = parts

  return {
    add: (upload) => addFile(parts, upload),
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
    read: ({ storage_key: key, bytes, sha256 }, range) =>
      blobs.readStated({ key, bytes: Number(bytes), sha256 }, range),
    storage: parts.quota.read,
    removeExpired: () => deleteExpiredFiles(sql, EXPIRED_PER_RUN),
  }
}
