/**
 * Content with an owner. Every key is loose, in a row of the database, until the transaction that
 * writes its owner's row adopts it, and again from the transaction that deletes that row. What a
 * crash leaves behind is therefore known by name, in whatever storage it lies.
 */
import type { Readable } from 'node:stream'
import type { Sql, TransactionSql } from 'postgres'
import type { Log } from '../../lib/log.ts'
import { adoptLoose, forgetLoose, noteLoose, takeLoose } from './blob-store.ts'
import type { ByteRange, Storage, Written } from './storage.ts'

/** Longer than the largest upload takes at the least rate. */
const WRITING_SECONDS = 86_400
/** Nobody else tries to remove it meanwhile, and nobody adopts it so shortly before. */
const REMOVING_SECONDS = 600
const REMOVED_AT_ONCE = 20

export interface Blob extends Written {
  readonly key: string
}

export interface Blobs {
  /** Writes content that stays loose until it is adopted. Throws as the storage does. */
  write(content: Readable, limitBytes: number): Promise<Blob>
  /** In the transaction that writes the owner's row. Throws when the content was given up. */
  adopt(transaction: TransactionSql, key: string): Promise<void>
  /** In the transaction that deletes the owner's row; `clear` is for after its commit. */
  release(transaction: TransactionSql, key: string): Promise<void>
  /** Removes loose content now. Never rejects: what fails is left to `clearDue`. */
  clear(key: string): Promise<void>
  /** Removes what is due, and says how much that was. */
  clearDue(): Promise<number>
  read(key: string, range?: ByteRange): Promise<Readable>
}

export function createBlobs({
  sql,
  storage,
  log,
}: {
  readonly sql: Sql
  readonly storage: Storage
  readonly log: Log
}): Blobs {
  async function clear(key: string): Promise<void> {
    try {
      await storage.remove(key)
      await forgetLoose(sql, key)
    } catch (error) {
      log.warn({ error }, 'content was not removed, will be tried again')
      await noteLoose(sql, key, REMOVING_SECONDS).catch(() => undefined)
    }
  }

  return {
    async write(content, limitBytes) {
      const key = storage.newKey()
      // Somebody who sends meanwhile must not be lost: the stream waits until it is read.
      await noteLoose(sql, key, WRITING_SECONDS)
      try {
        return { key, ...(await storage.write(key, content, limitBytes)) }
      } catch (error) {
        await clear(key)
        throw error
      }
    },
    async adopt(transaction, key) {
      const isMine = await adoptLoose(transaction, key, 2 * REMOVING_SECONDS)
      if (!isMine) throw new Error('the content was given up')
    },
    release: (transaction, key) => noteLoose(transaction, key, 0),
    clear,
    async clearDue() {
      const keys = await takeLoose(sql, REMOVED_AT_ONCE, REMOVING_SECONDS)
      for (const key of keys) await clear(key)
      return keys.length
    },
    read: (key, range) => storage.read(key, range),
  }
}
