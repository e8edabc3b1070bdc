/** Files of accounts: bytes first, then the row, so that a row never promises what is not there. */
import type { Readable } from 'node:stream'
import type { Sql } from 'postgres'
import { GatewayError } from '../errors.ts'
import { newId, randomText } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import {
  deleteFile,
  type FilePage,
  type FileRow,
  findFile,
  findFileByToken,
  insertFile,
  listFiles,
  sumFileBytes,
  takeExpiredFiles,
} from './file-store.ts'
import { sniffType } from './sniff-type.ts'
import { type Storage, TooManyBytes } from './storage.ts'

/** Spec part 8: smaller than 1 GB. */
const FILE_BYTES_MAX = 1_000_000_000 - 1
/** What one account may keep at a time. */
const ACCOUNT_BYTES_MAX = 20_000_000_000
const EXPIRED_AT_ONCE = 20
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
  read(file: FileRow, range?: { readonly start: number; readonly end: number }): Readable
}

export function createFiles(parts: {
  readonly sql: Sql
  readonly storage: Storage
  readonly log: Log
}): Files {
  const { sql, storage, log } = parts

  /** Makes room on the occasion of an upload; what fails is tried again at the next. */
  async function removeExpired(): Promise<void> {
    const rows = await takeExpiredFiles(sql, EXPIRED_AT_ONCE)
    for (const row of rows) await storage.remove(row.storage_key)
  }

  return {
    async add({ accountId, filename, content, fields }) {
      void removeExpired().catch((error) => log.warn({ error }, 'expired files were not removed'))
      const kept = Number(await sumFileBytes(sql, accountId))
      const limit = Math.min(FILE_BYTES_MAX, Math.max(0, ACCOUNT_BYTES_MAX - kept))
      const written = await storage.write(content, limit).catch((cause: unknown) => {
        throw refusalOf(cause)
      })
      try {
        if (written.bytes === 0) throw invalid('file is empty')
        const { purpose, lifeSeconds } = fields()
        return await insertFile(sql, {
          ...{ id: newId('file'), account_id: accountId, filename, purpose },
          token: randomText(TOKEN_CHARACTERS),
          storage_key: written.key,
          content_type: sniffType(written.head),
          bytes: BigInt(written.bytes),
          expires_at: new Date(Date.now() + lifeSeconds * 1000),
        })
      } catch (error) {
        await storage.remove(written.key)
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
      const row = await deleteFile(sql, accountId, id)
      if (row) await storage.remove(row.storage_key)
      return row !== undefined
    },
    read: (file, range) => storage.read(file.storage_key, range),
  }
}

function invalid(message: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', { message, param: 'file', cause })
}

function refusalOf(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause
  if (cause instanceof TooManyBytes) {
    const message = 'file is too large: below 1 GB each, 20 GB for an account'
    return new GatewayError('too_large', { message })
  }
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'ENOSPC') return new GatewayError('unavailable', { cause })
  return invalid('the upload broke off', cause)
}
