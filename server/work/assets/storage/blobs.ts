/**
 * Content and its owner. A key is marked loose in the database until the transaction that writes
 * its owner's row adopts it, and again from the transaction that deletes that row. Content that
 * a crash abandoned is therefore always known by its key, in any storage.
 */
import type { Readable } from 'node:stream'
import type { Sql, TransactionSql } from 'postgres'
import { GatewayError } from '../../../base/lib/errors.ts'
import type { Log } from '../../../base/lib/log.ts'
import { adoptLoose, forgetLoose, noteLoose, takeLoose } from './blob-store.ts'
import { type ContentFault, checkContent, type StatedContent } from './check-content.ts'
import { type ByteRange, ContentMissing, type Storage, type Written } from './storage.ts'

/** Longer than the largest upload takes at the minimum rate. */
const WRITING_SECONDS = 86_400
/** Time for one removal; no other cleaner tries it and no owner adopts it meanwhile. */
const REMOVING_SECONDS = 600
const REMOVALS_PER_RUN = 20

export interface Blob extends Written {
  readonly key: string
}

export interface Blobs {
  /** False while other gateways store files where this process cannot read them. */
  readonly keepsFiles: () => boolean
  /**
   * Writes content that stays loose until it is adopted. Rejects with the storage's errors, or with
   * GatewayError 503 while this process keeps no files.
   */
  write(content: Readable, limitBytes: number): Promise<Blob>
  /** Adopts content in the transaction that writes its owner's row. Throws when it is too late. */
  adopt(transaction: TransactionSql, key: string): Promise<void>
  /** Marks content loose in the transaction that deletes its owner's row; `clear` follows it. */
  release(transaction: TransactionSql, key: string): Promise<void>
  /** Removes loose content now. Never rejects: `clearDue` retries after a failure. */
  clear(key: string): Promise<void>
  /** Removes loose content that is due. Returns the number of items. */
  clearDue(): Promise<number>
  read(key: string, range?: ByteRange): Promise<Readable>
  /**
   * Opens content that its owner's row describes. The stream fails before its last bytes if it is
   * not as stated: a range is checked by its length, the whole by its digest too. A fault is logged
   * and counted. Rejects with ContentMissing for lost content.
   */
  readStated(stated: StatedContent, range?: ByteRange): Promise<Readable>
}

export function createBlobs({
  sql,
  storage,
  log,
  onFault,
  keepsFiles = () => true,
}: {
  readonly sql: Sql
  readonly storage: Storage
  readonly log: Log
  /** Receives each fault of content that is read. */
  readonly onFault?: (fault: ContentFault) => void
  readonly keepsFiles?: () => boolean
}): Blobs {
  async function clear(key: string): Promise<void> {
    try {
      await storage.remove(key)
      // Content that is missing here may be where the other gateways keep theirs; they remove it by
      // its mark.
      if (keepsFiles()) await forgetLoose(sql, key)
      else await noteLoose(sql, key, 0)
    } catch (error) {
      log.warn({ error }, 'content could not be removed, retrying later')
      await noteLoose(sql, key, REMOVING_SECONDS).catch(() => undefined)
    }
  }

  return {
    keepsFiles,
    async write(content, limitBytes) {
      if (!keepsFiles()) throw elsewhere()
      const key = storage.newKey()
      // The caller may already be sending: its stream waits unread until this commits.
      await noteLoose(sql, key, WRITING_SECONDS)
      try {
        return { key, ...(await storage.write(key, content, limitBytes)) }
      } catch (error) {
        await clear(key)
        throw error
      }
    },
    async adopt(transaction, key) {
      const isAdopted = await adoptLoose(transaction, key, 2 * REMOVING_SECONDS)
      if (!isAdopted) throw new Error('the content is due for removal')
    },
    release: (transaction, key) => noteLoose(transaction, key, 0),
    clear,
    async clearDue() {
      if (!keepsFiles()) return 0
      const keys = await takeLoose(sql, REMOVALS_PER_RUN, REMOVING_SECONDS)
      for (const key of keys) await clear(key)
      return keys.length
    },
    read: (key, range) => storage.read(key, range),
    async readStated(stated, range) {
      const report = (fault: ContentFault, error: unknown) => {
        log.error({ kind: fault, file: stated.key, error }, 'content is not as it was stored')
        onFault?.(fault)
      }
      const content = await storage.read(stated.key, range).catch((error: unknown) => {
        if (error instanceof ContentMissing) report('lost', error)
        throw error
      })
      return checkContent(content, stated, range, report)
    },
  }
}

function elsewhere(): GatewayError {
  return new GatewayError('unavailable', {
    message:
      'this gateway accepts no files, because the others keep theirs in another place and ' +
      'could not serve them: its operator must give all gateways the same S3_ENDPOINT and ' +
      'S3_BUCKET, or one folder at DATA_DIR/files',
  })
}
