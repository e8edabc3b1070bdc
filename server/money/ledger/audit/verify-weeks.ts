/**
 * Verifies weeks of calls that have all ended, each once and on a snapshot of its own: later audits
 * start from their sums. A week that cannot be verified is left to the audit itself, which names
 * what is wrong with it.
 */
import type { Sql } from 'postgres'
import { isLocked, isSerialization, readErrorCode } from '../../../base/database/unavailable.ts'
import { randomText, timeOfId } from '../../../base/lib/ids.ts'
import { type Invariant, withAuditSnapshot } from './audit-store.ts'
import {
  awaitChanges,
  beginWeeks,
  forgetArchived,
  isUnderWay,
  readNextHold,
  readPlace,
  recordWeek,
  selectSettledWeeks,
} from './verified-store.ts'
import { type Week, weekOf } from './weeks.ts'

/** Most calls and tasks have ended by then; a later correction has its week verified again. */
const SETTLED_AFTER_MS = 2 * 86_400_000
/** A lower bound of all hold ids with a time in this millennium or the next. */
const FIRST_TIMED_ID = 'hold_0'
const RUN_LENGTH = 22
/** Another audit has restarted the week, or recorded its sums. */
const TAKEN: ReadonlySet<string> = new Set(['23503', '23505'])

export interface WeekOptions {
  /** Called with each week before its verification is committed. */
  readonly onWeek?: (week: string) => Promise<void> | void
}

/** Returns how many weeks were verified. On a database that accepts no writes, none is. */
export async function verifyWeeks(
  sql: Sql,
  invariants: readonly Invariant[],
  options: WeekOptions = {},
): Promise<number> {
  const { now, writable } = await readPlace(sql)
  if (!writable) return 0
  const weeks = await listEndedWeeks(sql, new Date(now.getTime() - SETTLED_AFTER_MS))
  const run = randomText(RUN_LENGTH)
  try {
    await forgetArchived(sql)
    if (weeks.length === 0) return 0
    await beginWeeks(sql, weeks, run)
    await awaitChanges(sql)
  } catch (error) {
    if (isLost(error)) return 0
    throw error
  }
  let verified = 0
  for (const week of weeks) {
    if (await verifyWeek(sql, week, run, { invariants, ...options })) verified += 1
  }
  return verified
}

/** Lists the weeks with holds that ended before `limit` and are not verified yet. */
async function listEndedWeeks(sql: Sql, limit: Date): Promise<Week[]> {
  const settled = new Set(await selectSettledWeeks(sql))
  const weeks: Week[] = []
  for (let from = FIRST_TIMED_ID; ; ) {
    const first = await readNextHold(sql, from)
    const time = first === undefined ? undefined : timeOfId(first)
    if (!time || time > limit) return weeks
    const week = weekOf(time)
    if (week.end > limit) return weeks
    if (!settled.has(week.name)) weeks.push(week)
    from = week.endId
  }
}

class NotVerified extends Error {}

async function verifyWeek(
  sql: Sql,
  week: Week,
  run: string,
  options: WeekOptions & { readonly invariants: readonly Invariant[] },
): Promise<boolean> {
  const scope = { ranges: [{ from: week.startId, to: week.endId }], weeks: [], block: 0n }
  try {
    return await withAuditSnapshot(sql, 'read write', async (view) => {
      if (await isUnderWay(view, week)) return false
      for (const { isOfCalls, find } of options.invariants) {
        if (isOfCalls && (await find(view, scope)).length > 0) return false
      }
      await options.onWeek?.(week.name)
      // Rolls back if the week cannot be recorded: the sums must not be stored without it.
      if (!(await recordWeek(view, week, run))) throw new NotVerified()
      return true
    })
  } catch (error) {
    if (error instanceof NotVerified || isLost(error)) return false
    throw error
  }
}

/** Returns true if a settlement or another audit was first. */
function isLost(error: unknown): boolean {
  return TAKEN.has(readErrorCode(error)) || isSerialization(error) || isLocked(error)
}
