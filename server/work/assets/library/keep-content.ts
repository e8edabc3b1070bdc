/**
 * Stores results that arrive as bytes instead of a link. They are written before the task ends and
 * have no owner until the transaction that ends it, which makes them stored gallery entries.
 */
import { Readable } from 'node:stream'
import type { TransactionSql } from 'postgres'
import { GatewayError } from '../../../base/lib/errors.ts'
import { randomText } from '../../../base/lib/ids.ts'
import { readPictureSize } from '../../../base/lib/media/read-picture-size.ts'
import { sniffType } from '../../../base/lib/media/sniff-type.ts'
import { linkTo, TOKEN_CHARACTERS } from '../links.ts'
import type { Quota } from '../quota.ts'
import type { Blobs } from '../storage/blobs.ts'
import { StorageUnavailable, TooManyBytes } from '../storage/storage.ts'
import { type ContentRow, storeContentRow } from './asset-store.ts'

/** Stored content of a result. `url` serves it once the task has ended. */
export type ResultContent = ContentRow

/** The task that the content is a result of. */
export interface ContentOwner {
  readonly id: string
  readonly account_id: string
}

export interface Keeper {
  /** Stores content. Throws GatewayError: 413 when the quota is used up, 503 without storage. */
  keep(accountId: string, content: Buffer): Promise<ResultContent>
  /** Removes content that no task will adopt. Never rejects. */
  discard(content: ResultContent): Promise<void>
  /**
   * Attaches content to its gallery entry, in the transaction that ends the task. Throws
   * GatewayError 413 when others have used up the quota meanwhile; throws when the content has
   * already been released for removal.
   */
  adopt(transaction: TransactionSql, task: ContentOwner, content: ResultContent): Promise<void>
}

export function createKeeper({
  blobs,
  quota,
  publicUrl,
}: {
  readonly blobs: Blobs
  readonly quota: Quota
  readonly publicUrl: string
}): Keeper {
  return {
    async keep(accountId, content) {
      const remainingBytes = await quota.remainingBytes(accountId)
      const source = Readable.from([content])
      const blob = await blobs.write(source, remainingBytes).catch((cause: unknown) => {
        throw refusalOf(cause)
      })
      const token = randomText(TOKEN_CHARACTERS)
      const contentType = sniffType(blob.head)
      const size = readPictureSize(blob.head)
      return {
        url: linkTo(publicUrl, { token, kind: 'image', content_type: contentType }),
        token,
        storageKey: blob.key,
        contentType,
        bytes: blob.bytes,
        sha256: blob.sha256,
        width: size?.width,
        height: size?.height,
      }
    },
    discard: ({ storageKey }) => blobs.clear(storageKey),
    async adopt(transaction, task, content) {
      await quota.claim(transaction, task.account_id, content.bytes)
      if (await storeContentRow(transaction, task, content)) {
        await blobs.adopt(transaction, content.storageKey)
      }
    },
  }
}

function refusalOf(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause
  if (cause instanceof TooManyBytes) {
    return new GatewayError('too_large', { message: 'the storage of this account is full', cause })
  }
  if (cause instanceof StorageUnavailable) return new GatewayError('unavailable', { cause })
  return new GatewayError('internal', { cause })
}
