/**
 * Uploads of calls, public for as long as their call lasts: for vendors that fetch what they work
 * on. Nobody can guess the address, and it is gone with the call; what a crash leaves behind, goes
 * by its time.
 */
import type { Readable } from 'node:stream'
import type { Sql } from 'postgres'
import { withTransaction } from '../../database/transaction.ts'
import { GatewayError } from '../../lib/errors.ts'
import { newId, randomText } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { sniffType } from '../../lib/media/sniff-type.ts'
import { linkToFile, TOKEN_CHARACTERS } from '../links.ts'
import type { Blob, Blobs } from '../storage/blobs.ts'
import { deleteFile, type FileRow, insertFile } from './file-store.ts'

/** Longer than any call waits for a vendor. */
const LIFE_SECONDS = 1800
const PURPOSE = 'call'

export interface ToLend {
  readonly accountId: string
  /** The last part of the address; its ending tells vendors the format. */
  readonly filename: string
  readonly bytes: number
  readonly content: Readable
}

export interface Loan {
  readonly url: string
  /** Takes it back. Never rejects: what fails is left to the expiry. */
  end(): Promise<void>
}

/** Throws GatewayError 503 when storage is away. */
export type Lend = (wanted: ToLend) => Promise<Loan>

export function createLend({
  sql,
  blobs,
  publicUrl,
  log,
}: {
  readonly sql: Sql
  readonly blobs: Blobs
  readonly publicUrl: string
  readonly log: Log
}): Lend {
  async function note(wanted: ToLend, blob: Blob): Promise<FileRow> {
    return withTransaction(sql, async (transaction) => {
      await blobs.adopt(transaction, blob.key)
      return insertFile(transaction, {
        id: newId('pub'),
        account_id: wanted.accountId,
        published: true,
        purpose: PURPOSE,
        token: randomText(TOKEN_CHARACTERS),
        storage_key: blob.key,
        filename: wanted.filename,
        content_type: sniffType(blob.head),
        bytes: BigInt(blob.bytes),
        life_seconds: LIFE_SECONDS,
        request_id: null,
        sha256: blob.sha256,
        idempotency_key: null,
      })
    })
  }

  async function takeBack(file: FileRow): Promise<void> {
    try {
      await withTransaction(sql, async (transaction) => {
        const deleted = await deleteFile(transaction, file.account_id, file.id)
        if (deleted) await blobs.release(transaction, deleted.storage_key)
      })
      await blobs.clear(file.storage_key)
    } catch (error) {
      log.warn({ error }, 'a lent file was not taken back, it expires by itself')
    }
  }

  return async (wanted) => {
    const blob = await blobs.write(wanted.content, wanted.bytes).catch((cause: unknown) => {
      throw new GatewayError('unavailable', { cause })
    })
    try {
      const file = await note(wanted, blob)
      return { url: linkToFile(publicUrl, file), end: () => takeBack(file) }
    } catch (error) {
      await blobs.clear(blob.key)
      throw error
    }
  }
}
