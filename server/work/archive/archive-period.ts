/**
 * Archives the calls of a month or week, batch by batch. Each batch is written as one object and
 * read back; one transaction then adopts the object, adds the batch's sums and removes its rows. A
 * kill between two steps loses nothing: the next run continues with the remaining rows.
 */
import type { Sql } from 'postgres'
import { OperatorError } from '../../base/lib/operator-error.ts'
import { failpoint } from '../../base/lib/process/failpoint.ts'
import { sealEverything } from '../../money/ledger/books/sealer.ts'
import { countAllEndedCalls } from '../../money/usage/rollup-store.ts'
import type { Blobs } from '../assets/storage/blobs.ts'
import {
  beginArchive,
  countHolds,
  finishArchive,
  type RemovedRange,
  type RemoveVerdict,
  readFirstHold,
  removeRows,
  selectArchives,
  withoutTimeout,
} from './archive-store.ts'
import { type Batch, selectBatch } from './batch-store.ts'
import { readArchiveManifest, writeManifest } from './manifest.ts'
import { checkWritten, type WrittenObject, writeObject } from './objects.ts'
import { type ArchivePeriod, type PeriodKind, periodAt, periodOfHold } from './periods.ts'

/** A settlement may arrive hours late, but never this many days. */
const AGE_DAYS_MIN = 35
const DAY_MS = 86_400_000
/** Limits of one object; its rows are removed in one transaction. */
const HOLDS_MAX = 10_000
const CALL_BYTES_MAX = 16_000_000
/** Concurrent runs read the same holds, but only one of them archives each. */
const ATTEMPTS_MAX = 10
const COUNT_STEP_SECONDS = 6 * 3600

export interface ArchiveOptions {
  readonly sql: Sql
  readonly blobs: Blobs
  /** Maximum holds per object. */
  readonly holdsMax?: number
  readonly onProgress?: (message: string) => void
  /** Called between the steps of a batch. */
  readonly onStep?: (step: ArchiveStep) => Promise<void> | void
}

export type ArchiveStep = 'begun' | 'written' | 'verified' | 'removing' | 'removed' | 'listed'

export interface ArchivedPeriod {
  /** Holds archived by this run. */
  readonly holds: number
  readonly objects: number
}

/** Lists the periods before `limit` that have holds in the database, the oldest first. */
export async function listPeriods(
  sql: Sql,
  kind: PeriodKind,
  limit: Date,
): Promise<ArchivePeriod[]> {
  const { first } = await readFirstHold(sql)
  const periods: ArchivePeriod[] = []
  let period = first === null ? undefined : periodOfHold(kind, first)
  for (; period && period.end <= limit; period = periodAt(kind, period.end)) {
    if ((await countHolds(sql, period)).holds > 0n) periods.push(period)
  }
  return periods
}

/** Returns the holds of a period. Rejects with OperatorError if it cannot be archived yet. */
export async function checkPeriod(sql: Sql, period: ArchivePeriod): Promise<bigint> {
  const { now } = await readFirstHold(sql)
  if (period.end.getTime() > now.getTime() - AGE_DAYS_MIN * DAY_MS) {
    throw new OperatorError(
      `${period.name} cannot be archived before ${AGE_DAYS_MIN} days have passed since its end`,
    )
  }
  const { holds, open } = await countHolds(sql, period)
  if (open > 0n) throw new OperatorError(`${REASONS.open(period)} (${open} of ${holds})`)
  return holds
}

/**
 * Rejects with OperatorError if the period cannot be archived; calls archived so far stay archived.
 */
export async function archivePeriod(
  period: ArchivePeriod,
  options: ArchiveOptions,
): Promise<ArchivedPeriod> {
  const { sql, onProgress, onStep } = options
  const holds = await checkPeriod(sql, period)
  const [known] = await selectArchives(sql, period.name)
  if (holds === 0n && (!known || known.finished_at)) {
    return { holds: 0, objects: 0 }
  }
  await sealEverything(sql)
  await countAllEndedCalls(sql, COUNT_STEP_SECONDS)
  const other = await beginArchive(sql, period)
  if (other !== undefined) {
    throw new OperatorError(`${period.name} cannot be archived: its first day is that of ${other}`)
  }
  await onStep?.('begun')
  const next = createReader(period, options)
  let after = period.afterId
  let done = 0
  let objects = 0
  for (;;) {
    const batch = await archiveBatch(period, after, { ...options, next })
    if (!batch) break
    after = batch.last
    done += batch.holds
    objects += 1
    onProgress?.(`${period.name}: ${done} of ${holds} calls archived`)
  }
  await listObjects(period, options)
  return { holds: done, objects }
}

type ReadBatch = (after: string) => Promise<Batch | undefined>

/** Returns a reader of batches, which reads the next one while its caller archives the last. */
function createReader(
  { endId }: ArchivePeriod,
  { sql, holdsMax = HOLDS_MAX }: ArchiveOptions,
): ReadBatch {
  let ahead: { readonly after: string; readonly batch: Promise<Batch | undefined> } | undefined
  const read = (after: string) =>
    selectBatch(sql, { after, endId }, { holds: holdsMax, callBytes: CALL_BYTES_MAX })
  return async (after) => {
    const batch = await (ahead?.after === after ? ahead.batch : read(after))
    const last = batch?.last
    ahead = last === undefined ? undefined : { after: last, batch: read(last) }
    // The caller may never await it.
    ahead?.batch.catch(() => undefined)
    return batch
  }
}

/** Archives the next holds after an id. Returns undefined if there are none. */
async function archiveBatch(
  period: ArchivePeriod,
  after: string,
  options: ArchiveOptions & { readonly next: ReadBatch },
) {
  const { sql, blobs, onStep, next } = options
  let first: string | undefined
  for (let attempt = 1; ; attempt += 1) {
    const batch = await next(after)
    if (!batch) return undefined
    const { last, holds, version } = batch
    // Another run has archived the holds of the last attempt.
    if (batch.first !== first) attempt = 1
    first = batch.first
    const object = await writeObject(blobs, batch.content)
    failpoint('archive-written')
    await orCleared(blobs, object.storage_key, async () => {
      await onStep?.('written')
      await checkWritten(blobs, object, batch.content)
    })
    failpoint('archive-verified')
    await onStep?.('verified')
    const range = { name: period.name, after, upto: last, version }
    const verdict = await removeBatch(range, object, options)
    if (verdict === 'removed') {
      failpoint('archive-removed')
      batch.release()
      await onStep?.('removed')
      return { last, holds }
    }
    // Nothing was committed, so no row names the object.
    await blobs.clear(object.storage_key)
    if (attempt === ATTEMPTS_MAX || !RETRIED.has(verdict)) {
      throw new OperatorError(REASONS[verdict](period))
    }
    if (verdict === 'unsealed') await sealEverything(sql)
    if (verdict === 'uncounted') await countAllEndedCalls(sql, COUNT_STEP_SECONDS)
  }
}

/** Removes an object that cannot be read back, before any row names it. */
async function orCleared(
  blobs: ArchiveOptions['blobs'],
  key: string,
  readBack: () => Promise<unknown>,
): Promise<void> {
  try {
    await readBack()
  } catch (error) {
    await blobs.clear(key)
    throw error
  }
}

const RETRIED: ReadonlySet<RemoveVerdict> = new Set(['changed', 'unsealed', 'uncounted'])

const REASONS: Readonly<
  Record<Exclude<RemoveVerdict, 'removed'>, (period: ArchivePeriod) => string>
> = {
  changed: ({ name }) => `calls of ${name} change while they are archived: try again later`,
  open: ({ name }) =>
    `holds of ${name} are open, or were closed in the last 7 days: archive it later`,
  unexplained: ({ name }) =>
    `a hold of ${name} has no call, or an entry no hold: run \`tributary audit\` first`,
  uncounted: ({ name }) =>
    `calls of ${name} are not in the figures yet: try again in a few minutes`,
  unbalanced: ({ name }) =>
    `the entries of a call of ${name} do not add up to its hold and its charge: run ` +
    '`tributary audit` first',
  unsealed: ({ name }) => `entries of ${name} are not sealed yet: try again in a few minutes`,
  altered: ({ name }) =>
    `an entry of ${name} is not what was sealed: run \`tributary audit\` first`,
}

class NotRemoved extends Error {
  readonly verdict: RemoveVerdict
  constructor(verdict: RemoveVerdict) {
    super(verdict)
    this.verdict = verdict
  }
}

/**
 * If the connection breaks, the commit may have succeeded: the object is then left alone, since
 * housekeeping removes it only if no transaction adopted it.
 */
async function removeBatch(
  range: RemovedRange,
  object: WrittenObject,
  { sql, blobs, onStep }: ArchiveOptions,
): Promise<RemoveVerdict> {
  try {
    return await withoutTimeout(sql, async (transaction) => {
      await blobs.adopt(transaction, object.storage_key)
      const verdict = await removeRows(transaction, range, object)
      if (verdict !== 'removed') throw new NotRemoved(verdict)
      failpoint('archive-removing')
      await onStep?.('removing')
      return verdict
    })
  } catch (error) {
    if (error instanceof NotRemoved) return error.verdict
    throw error
  }
}

/** Writes the manifest and records it. An earlier manifest of the period is removed. */
async function listObjects(
  period: ArchivePeriod,
  { sql, blobs, onStep }: ArchiveOptions,
): Promise<void> {
  const manifest = await writeManifest(sql, blobs, period)
  const stated = { manifest_key: manifest.key, manifest_sha256: manifest.sha256 }
  await orCleared(blobs, manifest.key, () => readArchiveManifest(blobs, stated))
  failpoint('archive-listed')
  await onStep?.('listed')
  const earlier = await withoutTimeout(sql, async (transaction) => {
    await blobs.adopt(transaction, manifest.key)
    const key = await finishArchive(transaction, period.name, manifest)
    if (key !== null) await blobs.release(transaction, key)
    return key
  })
  if (earlier !== null) await blobs.clear(earlier)
}
