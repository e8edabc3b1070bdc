/** Adds an upload: stores its content, checks the quota, applies its Idempotency-Key. */
import type { Readable } from 'node:stream'
import type { Sql } from 'postgres'
import { withTransaction } from '../../../base/database/transaction.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { newId, randomText } from '../../../base/lib/ids.ts'
import { sniffType } from '../../../base/lib/media/sniff-type.ts'
import type { FairSlots } from '../../../base/lib/queues/fair-slots.ts'
import { TOKEN_CHARACTERS } from '../links.ts'
import type { Quota } from '../quota.ts'
import type { Blob, Blobs } from '../storage/blobs.ts'
import { measure, StorageUnavailable, TooManyBytes } from '../storage/storage.ts'
import { type FileRow, findFileByKey, freeUploadKey, insertFile } from './file-store.ts'

/** The vendors' own limit for a recording: smaller than 1 GB. */
const FILE_BYTES_MAX = 1_000_000_000 - 1
/** Allowance for the multipart framing and fields around a file. */
const FRAME_BYTES_MAX = 64 * 1024

export interface FileUpload {
  readonly accountId: string
  readonly requestId: string
  readonly filename: string
  readonly content: Readable
  /** Content-Length of the request. Used only to refuse an upload that is too large. */
  readonly declaredBytes: number
  /**
   * Resolves to the form's fields once all of it has arrived, since fields may follow the content;
   * rejects if the form is refused.
   */
  readonly fields: () => Promise<UploadFields>
  /** Key under which the same upload adds no second file for 24 hours. */
  readonly idempotencyKey?: string | undefined
}

interface UploadFields {
  readonly purpose: string
  readonly lifeSeconds: number
}

export interface Uploaded {
  readonly file: FileRow
  /** True when `file` comes from an earlier upload under the same key; nothing was stored. */
  readonly isReplay: boolean
}

export interface AddParts {
  readonly sql: Sql
  readonly blobs: Blobs
  readonly quota: Quota
  readonly slots: FairSlots
}

/**
 * Adds a file. Rejects with GatewayError: 413 beyond the limits, 400 for an upload that is empty or
 * cut off, 422 if the key was used for another upload, 503 for too many concurrent uploads or while
 * storage is unavailable.
 */
export async function addFile(parts: AddParts, upload: FileUpload): Promise<Uploaded> {
  const releaseSlot = await parts.slots.take(upload.accountId)
  try {
    return await add(parts, upload)
  } finally {
    releaseSlot()
  }
}

async function add(parts: AddParts, upload: FileUpload): Promise<Uploaded> {
  const { accountId, idempotencyKey: key } = upload
  const earlier = key === undefined ? undefined : await findFileByKey(parts.sql, accountId, key)
  if (!earlier) return store(parts, upload)
  const { sha256 } = await measure(upload.content, FILE_BYTES_MAX).catch((cause: unknown) => {
    throw refusalOf(cause, FILE_BYTES_MAX)
  })
  return replay(earlier, upload, await upload.fields(), sha256)
}

async function insert(
  { sql, blobs, quota }: AddParts,
  upload: FileUpload,
  blob: Blob,
): Promise<Uploaded> {
  const { accountId, requestId, filename, idempotencyKey } = upload
  if (blob.bytes === 0) throw invalid('file is empty')
  const fields = await upload.fields()
  return withTransaction(sql, async (transaction) => {
    await quota.lock(transaction, accountId)
    if (idempotencyKey !== undefined) {
      const earlier = await findFileByKey(transaction, accountId, idempotencyKey)
      if (earlier) return replay(earlier, upload, fields, blob.sha256)
      await freeUploadKey(transaction, accountId, idempotencyKey)
    }
    await quota.claim(transaction, accountId, blob.bytes)
    await blobs.adopt(transaction, blob.key)
    const file = await insertFile(transaction, {
      id: newId('file'),
      account_id: accountId,
      filename,
      purpose: fields.purpose,
      published: false,
      token: randomText(TOKEN_CHARACTERS),
      storage_key: blob.key,
      content_type: sniffType(blob.head),
      bytes: BigInt(blob.bytes),
      life_seconds: fields.lifeSeconds,
      request_id: requestId,
      sha256: blob.sha256,
      idempotency_key: idempotencyKey ?? null,
    })
    return { file, isReplay: false }
  })
}

async function store(parts: AddParts, upload: FileUpload): Promise<Uploaded> {
  const { blobs, quota } = parts
  const remainingBytes = await quota.remainingBytes(upload.accountId)
  const limit = Math.min(FILE_BYTES_MAX, remainingBytes)
  if (upload.declaredBytes - FRAME_BYTES_MAX > limit) {
    throw refusalOf(new TooManyBytes(), remainingBytes)
  }
  const blob = await blobs.write(upload.content, limit).catch((cause: unknown) => {
    throw refusalOf(cause, remainingBytes)
  })
  let added: Uploaded | undefined
  try {
    added = await insert(parts, upload, blob)
    return added
  } finally {
    if (!added || added.isReplay) await blobs.clear(blob.key)
  }
}

/** Returns the earlier file. Throws 422 unless this is the same upload. */
function replay(
  file: FileRow,
  upload: FileUpload,
  { purpose }: UploadFields,
  sha256: Buffer,
): Uploaded {
  const isSame =
    file.sha256?.equals(sha256) === true &&
    file.filename === upload.filename &&
    file.purpose === purpose
  if (!isSame) throw new GatewayError('idempotency_mismatch')
  return { file, isReplay: true }
}

function invalid(message: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', { message, param: 'file', cause })
}

function refusalOf(cause: unknown, remainingBytes: number): GatewayError {
  if (cause instanceof GatewayError) return cause
  if (cause instanceof TooManyBytes) {
    const message =
      remainingBytes < FILE_BYTES_MAX
        ? `this account may store ${remainingBytes} bytes more: delete files or media to make room`
        : 'file is too large: it must be below 1 GB'
    return new GatewayError('too_large', { message })
  }
  if (cause instanceof StorageUnavailable) {
    return new GatewayError('unavailable', { retryAfterSeconds: 5, cause })
  }
  return invalid('the upload broke off', cause)
}
