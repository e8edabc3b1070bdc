/** Another transaction that has an account. */
import type { Sql } from 'postgres'
import { until } from '../until.ts'

/** Begins a transaction that locks an account. Returns the function that ends it. */
export async function lockAccount(sql: Sql, accountId: string): Promise<() => Promise<void>> {
  const locked = Promise.withResolvers<void>()
  const unlock = Promise.withResolvers<void>()
  const locking = sql.begin(async (transaction) => {
    await transaction`select from balance where account_id = ${accountId} for update`
    locked.resolve()
    await unlock.promise
  })
  await Promise.race([locked.promise, locking])
  return async () => {
    unlock.resolve()
    await locking
  }
}

/**
 * Resolves once somebody who needs a locked account asks whether it is free, and rejects if `work`,
 * which needs it, ends before.
 */
export async function untilAskedFor(sql: Sql, work?: Promise<unknown>): Promise<void> {
  const asked = until('a question for the account', async () => {
    const asking = await sql`
      select from pg_stat_activity where datname = current_database()
        and pid <> pg_backend_pid() and query ~ 'from balance.*skip locked'`
    return asking.length > 0
  })
  const ended = work?.then(() => {
    throw new Error('it did not wait for the account')
  })
  await Promise.race(ended ? [asked, ended] : [asked])
}

/**
 * Opens sessions of a client. While one takes long to open, a statement follows another on a
 * session that is open, and would wait for that one in place of a lock.
 */
export async function openSessions(sql: Sql, count: number): Promise<void> {
  const all = Promise.withResolvers<void>()
  let open = 0
  const work = async () => {
    open += 1
    if (open === count) all.resolve()
    await all.promise
  }
  await Promise.all(Array.from({ length: count }, () => sql.begin(work)))
}

/** Resolves once so many statements of a database wait for a lock. */
export async function untilWaiting(sql: Sql, count: number): Promise<void> {
  await until(`${count} statements that wait for a lock`, async () => {
    // A transaction has a session to itself.
    const waiting = await sql.begin(
      (transaction) => transaction`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return waiting.length === count
  })
}
