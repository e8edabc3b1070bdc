/** One claimed copy: from the vendor's link into our storage, and what came of it into the row. */
import type { Sql } from 'postgres'
import { withTransaction } from '../../database/transaction.ts'
import { GatewayError } from '../../lib/errors.ts'
import { failpoint } from '../../lib/failpoint.ts'
import type { Log } from '../../lib/log.ts'
import { readVideoFacts, type VideoFacts } from '../../lib/media/read-mp4.ts'
import { readPictureSize } from '../../lib/media/read-picture-size.ts'
import { sniffType } from '../../lib/media/sniff-type.ts'
import type { Guard } from '../../outbound/guard.ts'
import type { Quota } from '../quota.ts'
import type { Blob, Blobs } from '../storage/blobs.ts'
import { StorageTrouble, TooManyBytes } from '../storage/storage.ts'
import { type CopyLimits, copyBackoffMs } from './copy-schedule.ts'
import { type ClaimedCopy, failCopy, releaseCopy, renewCopy, storeCopy } from './copy-store.ts'

export interface CopyContext {
  readonly sql: Sql
  readonly blobs: Blobs
  readonly quota: Quota
  readonly guard: Guard
  readonly log: Log
  readonly limits: CopyLimits
  /** Told what came of every try. */
  readonly onEnd?: (outcome: CopyOutcome) => void
  /** Cuts it, and gives the claim back. */
  readonly signal: AbortSignal
}

export type CopyOutcome = 'stored' | 'retried' | 'failed'

/** In words for the account's owner. `final`: another try would end in the same way. */
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

/** Rejects only when the database cannot be written; the lease then runs out. */
export async function copyOne(claim: ClaimedCopy, context: CopyContext): Promise<void> {
  const { sql, limits, log } = context
  const startMs = performance.now()
  const lease = holdLease(claim, context)
  try {
    const blob = await bring(claim, context, lease.signal)
    failpoint('copy-written')
    await keep(claim, blob, context)
    context.onEnd?.('stored')
  } catch (error) {
    if (context.signal.aborted) return await releaseCopy(sql, claim)
    if (lease.signal.aborted) return
    const failure = error instanceof CopyFailure ? error : describe(error)
    // What this try has taken is of the link's life.
    const leftMs = claim.left_ms - (performance.now() - startMs)
    const waitMs = failure.final ? null : copyBackoffMs(claim.attempts, leftMs, limits)
    await failCopy(sql, claim, failure.message, waitMs)
    context.onEnd?.(waitMs === null ? 'failed' : 'retried')
    const fields = { asset_id: claim.id, attempt: claim.attempts, error }
    if (waitMs === null) log.error(fields, 'a result was not copied before its link expired')
    else log.debug(fields, 'a copy failed and will be tried again')
  } finally {
    lease.end()
  }
}

/** Keeps the claim while the copy goes on, and cuts the copy when the claim is lost. */
function holdLease(claim: ClaimedCopy, { sql, limits, signal }: CopyContext) {
  const lost = new AbortController()
  const timer = setInterval(() => {
    renewCopy(sql, claim, limits.leaseMs).then(
      (kept) => kept || lost.abort(),
      () => undefined,
    )
  }, limits.leaseMs / 3)
  return { signal: AbortSignal.any([signal, lost.signal]), end: () => clearInterval(timer) }
}

async function bring(
  { source_url: url, account_id: accountId }: ClaimedCopy,
  { guard, blobs, quota, limits }: CopyContext,
  lease: AbortSignal,
): Promise<Blob> {
  const left = await quota.left(accountId)
  if (left === 0) throw new CopyFailure('the storage of this account is full')
  const signal = AbortSignal.any([lease, AbortSignal.timeout(limits.totalMs)])
  const { headMs, idleMs, bytesMax } = limits
  const download = await guard.download({ url, headMs, idleMs, signal })
  if (download.outcome !== 'answered') throw new CopyFailure(download.message)
  try {
    const { status, length = 0 } = download
    if (status !== 200) throw new CopyFailure(`the link was answered with ${status}`)
    if (length > bytesMax) throw tooLarge()
    if (length > left) throw new CopyFailure('the storage of this account is too small for it')
    const blob = await blobs.write(download.body, Math.min(bytesMax, left))
    if (blob.bytes > 0) return blob
    await blobs.clear(blob.key)
    throw new CopyFailure('the link was answered with nothing')
  } catch (cause) {
    if (cause instanceof TooManyBytes && left >= bytesMax) throw tooLarge()
    throw cause
  } finally {
    await download.close()
  }
}

function tooLarge(): CopyFailure {
  return new CopyFailure('the result is too large to be kept here', { final: true })
}

/** The bytes and their row become one, or the bytes go. */
async function keep(
  claim: ClaimedCopy,
  blob: Blob,
  { sql, blobs, quota }: CopyContext,
): Promise<void> {
  const facts: VideoFacts = readPictureSize(blob.head) ?? readVideoFacts(blob.head)
  try {
    await withTransaction(sql, async (transaction) => {
      await quota.claim(transaction, claim.account_id, blob.bytes)
      const kept = await storeCopy(transaction, claim, {
        storageKey: blob.key,
        contentType: sniffType(blob.head),
        bytes: blob.bytes,
        width: facts.width,
        height: facts.height,
        seconds: facts.seconds,
      })
      if (!kept) throw new CopyFailure('the copy was taken over, or its entry deleted')
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
  if (error instanceof StorageTrouble) return new CopyFailure('storage is not available', cause)
  return new CopyFailure('the transfer broke off', cause)
}
