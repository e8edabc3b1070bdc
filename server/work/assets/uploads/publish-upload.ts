/**
 * Publishes the upload of a call under an unguessable URL, for vendors that fetch their input. The
 * upload is removed at the end of the call, or by its expiry after a crash.
 */
import type { Readable } from 'node:stream'
import type { Sql } from 'postgres'
import { withTransaction } from '../../../base/database/transaction.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { newId, randomText } from '../../../base/lib/ids.ts'
import type { Log } from '../../../base/lib/log.ts'
import { sniffType } from '../../../base/lib/media/sniff-type.ts'
import { linkToFile, TOKEN_CHARACTERS } from '../links.ts'
import type { Blob, Blobs } from '../storage/blobs.ts'
import { deleteFile, type FileRow, insertFile } from './file-store.ts'

/** Longer than any call waits for a vendor. */
const LIFE_SECONDS = 1800
const PURPOSE = 'call'

export interface UploadToPublish {
  readonly accountId: string
  /** The last segment of the URL; vendors read the format from its extension. */
  readonly filename: string
  readonly bytes: number
  readonly content: Readable
  /** The request whose end removes it, with `unpublish`. */
  readonly requestId?: string
  readonly lifeSeconds?: number
}

export interface PublishedUpload {
  readonly url: string
  /** Removes the upload. Never rejects: after a failure it expires. */
  end(): Promise<void>
}

/** Publishes an upload. Rejects with GatewayError 503 while storage is unavailable. */
export type PublishUpload = (upload: UploadToPublish) => Promise<PublishedUpload>

export function createPublisher({
  sql,
  blobs,
  publicUrl,
  log,
}: {
  readonly sql: Sql
  readonly blobs: Blobs
  readonly publicUrl: string
  readonly log: Log
}): PublishUpload {
  async function insertRow(upload: UploadToPublish, blob: Blob): Promise<FileRow> {
    return withTransaction(sql, async (transaction) => {
      await blobs.adopt(transaction, blob.key)
      return insertFile(transaction, {
        id: newId('pub'),
        account_id: upload.accountId,
        published: true,
        purpose: PURPOSE,
        token: randomText(TOKEN_CHARACTERS),
        storage_key: blob.key,
        filename: upload.filename,
        content_type: sniffType(blob.head),
        bytes: BigInt(blob.bytes),
        life_seconds: upload.lifeSeconds ?? LIFE_SECONDS,
        request_id: upload.requestId ?? null,
        sha256: blob.sha256,
        idempotency_key: null,
      })
    })
  }

  async function unpublish(file: FileRow): Promise<void> {
    try {
      await withTransaction(sql, async (transaction) => {
        const deleted = await deleteFile(transaction, file.account_id, file.id)
        if (deleted) await blobs.release(transaction, deleted.storage_key)
      })
      await blobs.clear(file.storage_key)
    } catch (error) {
      log.warn({ error }, 'a published upload was not removed, it will expire')
    }
  }

  return async (upload) => {
    const blob = await blobs.write(upload.content, upload.bytes).catch((cause: unknown) => {
      if (cause instanceof GatewayError) throw cause
      throw new GatewayError('unavailable', { retryAfterSeconds: 5, cause })
    })
    try {
      const file = await insertRow(upload, blob)
      return { url: linkToFile(publicUrl, file), end: () => unpublish(file) }
    } catch (error) {
      await blobs.clear(blob.key)
      throw error
    }
  }
}
