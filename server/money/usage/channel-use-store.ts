/** SQL of the last use of each channel: the newest records, and hourly figures before them. */
import type { Sql } from 'postgres'

export interface ChannelUseRow {
  readonly channel: string
  /** The last success; accurate to the hour if it is older than the newest records. */
  readonly succeeded_at: Date | null
  /** The first and the last failure since then; null if there is none. */
  readonly failing_since: Date | null
  readonly failed_at: Date | null
  /** Outcome, status and reason of the last failure. */
  readonly outcome: string | null
  readonly status: number | null
  readonly reason: string | null
}

/** The number of records that are read; older calls are known to the hour. */
const RECORDS = 2_000

/** Days after which a channel without calls counts as untried. */
export const USE_DAYS = 31

/**
 * Reads the last use of the channels that had a call in the last 31 days. A vendor's refusal of a
 * request is a success: the channel works.
 */
export function readChannelUse(sql: Sql): Promise<readonly ChannelUseRow[]> {
  return sql<ChannelUseRow[]>`
    with tries as materialized (
      select split_part(a.value ->> 'channel', '#', 1) as channel, c.finished_at as at,
        a.value as try, a.value ->> 'outcome' in ('answered', 'accepted', 'rejected') as worked
      from (
        select finished_at, attempts from call order by created_at desc, request_id desc
        limit ${RECORDS}) c
      cross join lateral jsonb_array_elements(c.attempts) with ordinality as a(value, number)
      where a.value ->> 'outcome' not in ('submitting', 'given_up')
    ), used as (
      select channel, at as succeeded_at from tries where worked
      union all
      select split_part(channel, '#', 1), hour from channel_hour
      where hour >= now() - ${`${USE_DAYS} days`}::interval and calls > errors
    ), succeeded as (
      select channel, max(succeeded_at) as at from used group by channel
    ), failures as (
      select distinct on (t.channel) t.channel,
        min(t.at) over (partition by t.channel) as failing_since, t.at as failed_at, t.try
      from tries t left join succeeded s using (channel)
      where not t.worked and (s.at is null or t.at > s.at)
      order by t.channel, t.at desc
    )
    select channel, s.at as succeeded_at, f.failing_since, f.failed_at,
      f.try ->> 'outcome' as outcome, (f.try ->> 'status')::int as status,
      f.try ->> 'reason' as reason
    from succeeded s full join failures f using (channel)
    where channel <> ''`
}
