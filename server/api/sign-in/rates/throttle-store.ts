/** SQL of rate limits, one row per limited key, shared by all gateways. */
import type { Sql } from 'postgres'

export interface Rate {
  readonly burst: number
  /** One attempt is restored per interval. */
  readonly everySeconds: number
}

/**
 * Takes one attempt. Returns undefined on success, or the seconds until one is available. The row
 * stores the time at which the whole burst is restored; an attempt that would move it beyond the
 * burst is refused and moves nothing.
 */
export async function takeOne(sql: Sql, key: string, rate: Rate): Promise<number | undefined> {
  const { burst, everySeconds } = rate
  const taken = await sql`
    insert into throttle as t (key, full_at)
    values (${key}, clock_timestamp() + make_interval(secs => ${everySeconds}))
    on conflict (key) do update
      set full_at = greatest(t.full_at, clock_timestamp()) + make_interval(secs => ${everySeconds})
      where t.full_at <= clock_timestamp() + make_interval(secs => ${(burst - 1) * everySeconds})`
  if (taken.count > 0) return undefined
  const [row] = await sql<{ seconds: number }[]>`
    select extract(epoch from full_at - clock_timestamp())::float8
      - ${(burst - 1) * everySeconds}::float8 as seconds
    from throttle where key = ${key}`
  return Math.max(row?.seconds ?? 0, 0.1)
}

/** Returns an attempt that was not a wrong guess. */
export async function returnAttempt(sql: Sql, key: string, rate: Rate): Promise<void> {
  await sql`
    update throttle set full_at = full_at - make_interval(secs => ${rate.everySeconds})
    where key = ${key}`
}

export async function deleteRestored(sql: Sql): Promise<void> {
  await sql`delete from throttle where full_at < now()`
}
