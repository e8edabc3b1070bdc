/**
 * Results that came as bytes instead of a link. They are written before the task ends and belong to
 * nobody until its last transaction, which makes them entries of the gallery that need no copying.
 */
import { Readable } from 'node:stream'
import type { TransactionSql } from 'postgres'
import { GatewayError } from '../../lib/errors.ts'
import { randomText } from '../../lib/ids.ts'
import { readPictureSize } from '../../lib/media/read-picture-size.ts'
import { sniffType } from '../../lib/media/sniff-type.ts'
import { linkTo, TOKEN_CHARACTERS } from '../links.ts'
import type { Quota } from '../quota.ts'
import type { Blobs } from '../storage/blobs.ts'
import { StorageTrouble, TooManyBytes } from '../storage/storage.ts'
import { type KeptRow, storeKept } from './asset-store.ts'

/** Its `url` is where anybody will find it once the task has ended. */
export type KeptContent = KeptRow

export interface Keeper {
  /** Throws GatewayError: 413 when the account's storage is full, 503 when there is none. */
  keep(accountId: string, content: Buffer): Promise<KeptContent>
  /** Never rejects. */
  discard(kept: KeptContent): Promise<void>
  /** In the transaction that ends the task, after its entry. Throws when it was given up. */
  adopt(transaction: TransactionSql, taskId: string, kept: KeptContent): Promise<void>
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
      const left = await quota.left(accountId)
      const blob = await blobs.write(Readable.from([content]), left).catch((cause: unknown) => {
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
        width: size?.width,
        height: size?.height,
      }
    },
    discard: ({ storageKey }) => blobs.clear(storageKey),
    async adopt(transaction, taskId, kept) {
      if (await storeKept(transaction, taskId, kept)) {
        await blobs.adopt(transaction, kept.storageKey)
      }
    },
  }
}

function refusalOf(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause
  if (cause instanceof TooManyBytes) {
    return new GatewayError('too_large', { message: 'the storage of this account is full', cause })
  }
  if (cause instanceof StorageTrouble) return new GatewayError('unavailable', { cause })
  return new GatewayError('internal', { cause })
}
