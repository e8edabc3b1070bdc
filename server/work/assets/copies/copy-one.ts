/** Runs one claimed copy: downloads the vendor's link into storage and records the outcome. */
import type { Sql } from 'postgres'
import { withTransaction } from '../../../base/database/transaction.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import type { Log } from '../../../base/lib/log.ts'
import { readVideoFacts, type VideoFacts } from '../../../base/lib/media/read-mp4.ts'
import { readPictureSize } from '../../../base/lib/media/read-picture-size.ts'
import { sniffType } from '../../../base/lib/media/sniff-type.ts'
import { failpoint } from '../../../base/lib/process/failpoint.ts'
import type { Guard } from '../../../base/outbound/guard.ts'
import type { Quota } from '../quota.ts'
import type { Blob, Blobs } from '../storage/blobs.ts'
import { StorageUnavailable, TooManyBytes } from '../storage/storage.ts'
import { type CopyLimits, copyBackoffMs } from './copy-schedule.ts'
import { type ClaimedCopy, failCopy, releaseCopy, renewCopy, storeCopy } from './copy-store.ts'

export interface CopyContext {
  readonly sql: Sql
  readonly blobs: Blobs
  readonly quota: Quota
  readonly guard: Guard
  readonly log: Log
  readonly limits: CopyLimits
  /** Receives the outcome of every attempt. */
  readonly onEnd?: (outcome: CopyOutcome) => void
  /** Aborts the copy and returns its claim to the queue. */
  readonly signal: AbortSignal
}

interface RunningCopy extends ClaimedCopy {
  /** The time by this process's clock, read before the database read its own. */
  readonly claimedAtMs: number
}

export type CopyOutcome = 'stored' | 'retried' | 'failed'

/** A failure with a text for the account's owner. `final`: a retry would fail the same way. */
class CopyFailure extends Error {
  readonly final: boolean

  constructor(
    message: string,
    { final = false, cause }: { final?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.final = final
  }
}

/** Runs a copy. Rejects only when the database cannot be written; the lease then expires. */
export async function copyOne(claim: RunningCopy, context: CopyContext): Promise<void> {
  const { sql, limits, log } = context
  const lease = keepLease(claim, context)
  try {
    const blob = await download(claim, context, lease.signal)
    failpoint('copy-written')
    await store(claim, blob, context)
    context.onEnd?.('stored')
  } catch (error) {
    if (context.signal.aborted) return await releaseCopy(sql, claim)
    if (lease.signal.aborted) return
    const failure = error instanceof CopyFailure ? error : describe(error)
    // The link has aged since the claim was asked for.
    const expiresInMs = claim.expires_in_ms - (performance.now() - claim.claimedAtMs)
    const waitMs = failure.final ? null : copyBackoffMs(claim.attempts, expiresInMs, limits)
    await failCopy(sql, claim, failure.message, waitMs)
    context.onEnd?.(waitMs === null ? 'failed' : 'retried')
    const fields = { asset_id: claim.id, attempt: claim.attempts, error }
    if (waitMs === null) log.error(fields, 'a result was not copied before its link expired')
    else log.debug(fields, 'a copy failed and will be tried again')
  } finally {
    lease.end()
  }
}

/** Renews the lease while the copy runs, and aborts the copy when the lease is lost. */
function keepLease(claim: ClaimedCopy, { sql, limits, signal }: CopyContext) {
  const lost = new AbortController()
  const timer = setInterval(() => {
    renewCopy(sql, claim, limits.leaseMs).then(
      (isRenewed) => isRenewed || lost.abort(),
      () => undefined,
    )
  }, limits.leaseMs / 3)
  return { signal: AbortSignal.any([signal, lost.signal]), end: () => clearInterval(timer) }
}

async function download(
  { source_url: url, account_id: accountId }: ClaimedCopy,
  { guard, blobs, quota, limits }: CopyContext,
  lease: AbortSignal,
): Promise<Blob> {
  if (!blobs.keepsFiles()) {
    throw new CopyFailure('no gateway that finishes tasks keeps its files where the others do')
  }
  const remainingBytes = await quota.remainingBytes(accountId)
  if (remainingBytes === 0) throw new CopyFailure('the storage of this account is full')
  const signal = AbortSignal.any([lease, AbortSignal.timeout(limits.totalMs)])
  const { headMs, idleMs, bytesMax } = limits
  const response = await guard.download({ url, headMs, idleMs, signal })
  if (response.outcome !== 'answered') throw new CopyFailure(response.message)
  try {
    const { status, length = 0 } = response
    if (status !== 200) throw new CopyFailure(`the link returned status ${status}`)
    if (length > bytesMax) throw tooLarge()
    if (length > remainingBytes) {
      throw new CopyFailure('the storage of this account is too small for it')
    }
    const blob = await blobs.write(response.body, Math.min(bytesMax, remainingBytes))
    if (blob.bytes > 0) return blob
    await blobs.clear(blob.key)
    throw new CopyFailure('the link returned no content')
  } catch (cause) {
    if (cause instanceof TooManyBytes && remainingBytes >= bytesMax) throw tooLarge()
    throw cause
  } finally {
    await response.close()
  }
}

function tooLarge(): CopyFailure {
  return new CopyFailure('the result is too large to be kept here', { final: true })
}

/** Records the stored content in the asset's row; removes the content when that fails. */
async function store(
  claim: ClaimedCopy,
  blob: Blob,
  { sql, blobs, quota }: CopyContext,
): Promise<void> {
  const facts: VideoFacts = readPictureSize(blob.head) ?? readVideoFacts(blob.head)
  try {
    await withTransaction(sql, async (transaction) => {
      await quota.claim(transaction, claim.account_id, blob.bytes)
      const isStored = await storeCopy(transaction, claim, {
        storageKey: blob.key,
        contentType: sniffType(blob.head),
        bytes: blob.bytes,
        sha256: blob.sha256,
        width: facts.width,
        height: facts.height,
        seconds: facts.seconds,
      })
      if (!isStored) throw new CopyFailure('the lease was lost, or the entry deleted')
      await blobs.adopt(transaction, blob.key)
    })
  } catch (error) {
    await blobs.clear(blob.key)
    throw error
  }
}

function describe(error: unknown): CopyFailure {
  const cause = { cause: error }
  if (error instanceof GatewayError) return new CopyFailure(error.message, cause)
  if (error instanceof TooManyBytes) {
    return new CopyFailure('the storage of this account is too small for it', cause)
  }
  if (error instanceof StorageUnavailable) return new CopyFailure('storage is not available', cause)
  return new CopyFailure('the transfer was interrupted', cause)
}
