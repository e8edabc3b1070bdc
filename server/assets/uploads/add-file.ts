/** One upload: into storage, into the books of what an account keeps, and once under its key. */
import type { Readable } from 'node:stream'
import type { Sql } from 'postgres'
import { withTransaction } from '../../database/transaction.ts'
import { GatewayError } from '../../lib/errors.ts'
import { newId, randomText } from '../../lib/ids.ts'
import { sniffType } from '../../lib/media/sniff-type.ts'
import { TOKEN_CHARACTERS } from '../links.ts'
import type { Quota } from '../quota.ts'
import type { Blob, Blobs } from '../storage/blobs.ts'
import { measure, StorageTrouble, TooManyBytes } from '../storage/storage.ts'
import { type FileRow, findFileByKey, freeUploadKey, insertFile } from './file-store.ts'
import type { UploadSlots } from './upload-slots.ts'

/** The vendors' own limit for a recording: smaller than 1 GB. */
const FILE_BYTES_MAX = 1_000_000_000 - 1
/** What a form may add to the content of its file. */
const FRAME_BYTES_MAX = 64 * 1024

export interface FileUpload {
  readonly accountId: string
  readonly requestId: string
  readonly filename: string
  readonly content: Readable
  /** What the caller says that it sends: believed only when it is too much. */
  readonly declaredBytes: number
  /** Known once the content has been read, since fields may come after the file. */
  readonly fields: () => { readonly purpose: string; readonly lifeSeconds: number }
  /** Under which the same upload makes no second file for 24 hours. */
  readonly idempotencyKey?: string | undefined
}

export interface Uploaded {
  readonly file: FileRow
  /** The same upload was made before, under the same key; this one left nothing. */
  readonly isReplay: boolean
}

export interface AddParts {
  readonly sql: Sql
  readonly blobs: Blobs
  readonly quota: Quota
  readonly slots: UploadSlots
}

/**
 * Writes a file. Throws GatewayError: 413 beyond the limits, 400 for an upload that broke off or
 * is empty, 422 for another one than was made under its key, 429 and 503 when too many go on, 503
 * when storage is away.
 */
export async function addFile(parts: AddParts, upload: FileUpload): Promise<Uploaded> {
  const leave = parts.slots.take(upload.accountId)
  try {
    return await add(parts, upload)
  } finally {
    leave()
  }
}

async function add(parts: AddParts, upload: FileUpload): Promise<Uploaded> {
  const { accountId, idempotencyKey: key } = upload
  const earlier = key === undefined ? undefined : await findFileByKey(parts.sql, accountId, key)
  if (!earlier) return store(parts, upload)
  const { sha256 } = await measure(upload.content, FILE_BYTES_MAX).catch((cause: unknown) => {
    throw refusalOf(cause, FILE_BYTES_MAX)
  })
  return replay(earlier, upload, sha256)
}

function insert(
  { sql, blobs, quota }: AddParts,
  upload: FileUpload,
  blob: Blob,
): Promise<Uploaded> {
  const { accountId, requestId, filename, idempotencyKey } = upload
  if (blob.bytes === 0) throw invalid('file is empty')
  const { purpose, lifeSeconds } = upload.fields()
  return withTransaction(sql, async (transaction) => {
    await quota.enter(transaction, accountId)
    if (idempotencyKey !== undefined) {
      const earlier = await findFileByKey(transaction, accountId, idempotencyKey)
      if (earlier) return replay(earlier, upload, blob.sha256)
      await freeUploadKey(transaction, accountId, idempotencyKey)
    }
    await quota.claim(transaction, accountId, blob.bytes)
    await blobs.adopt(transaction, blob.key)
    const file = await insertFile(transaction, {
      id: newId('file'),
      account_id: accountId,
      filename,
      purpose,
      published: false,
      token: randomText(TOKEN_CHARACTERS),
      storage_key: blob.key,
      content_type: sniffType(blob.head),
      bytes: BigInt(blob.bytes),
      life_seconds: lifeSeconds,
      request_id: requestId,
      sha256: blob.sha256,
      idempotency_key: idempotencyKey ?? null,
    })
    return { file, isReplay: false }
  })
}

async function store(parts: AddParts, upload: FileUpload): Promise<Uploaded> {
  const { blobs, quota } = parts
  const left = await quota.left(upload.accountId)
  const limit = Math.min(FILE_BYTES_MAX, left)
  if (upload.declaredBytes - FRAME_BYTES_MAX > limit) throw refusalOf(new TooManyBytes(), left)
  const blob = await blobs.write(upload.content, limit).catch((cause: unknown) => {
    throw refusalOf(cause, left)
  })
  let added: Uploaded | undefined
  try {
    added = await insert(parts, upload, blob)
    return added
  } finally {
    if (!added || added.isReplay) await blobs.clear(blob.key)
  }
}

/** Throws 422 when it was another upload. */
function replay(file: FileRow, upload: FileUpload, sha256: Buffer): Uploaded {
  const isSame =
    file.sha256?.equals(sha256) === true &&
    file.filename === upload.filename &&
    file.purpose === upload.fields().purpose
  if (!isSame) throw new GatewayError('idempotency_mismatch')
  return { file, isReplay: true }
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
