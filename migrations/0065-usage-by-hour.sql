-- What the console draws, so that no page reads a million calls: figures by hour of the calls'
-- beginning, counted once when a call has ended. A background job adds to them and moves the
-- watermark in the same transaction; what ended after it is read from `call` itself. The tables of
-- the paid path get no trigger and no index that a successful call would have to write, but one
-- that costs next to nothing: a block range index over times that only grow.
create table usage_hour (
  account_id text not null,
  hour timestamptz not null,
  model text not null,
  key_id text not null,
  endpoint text not null,
  calls bigint not null,
  -- Failed and lost.
  errors bigint not null,
  cancelled bigint not null,
  charged bigint not null,
  primary key (account_id, hour, model, key_id, endpoint)
) with (fillfactor = 70);

-- How long successful calls took, tasks left out; `bucket` is latency_bucket.
create table latency_hour (
  account_id text not null,
  hour timestamptz not null,
  model text not null,
  bucket smallint not null,
  calls bigint not null,
  primary key (account_id, hour, model, bucket)
) with (fillfactor = 70);

create table key_use (
  key_id text primary key,
  account_id text not null,
  calls bigint not null,
  charged bigint not null,
  last_used_at timestamptz not null
) with (fillfactor = 70);

-- Calls that ended before this time are in the figures; null before the first count.
create table usage_watermark (
  singleton boolean primary key default true check (singleton),
  counted_until timestamptz
);
insert into usage_watermark default values;

-- Each bucket is a fifth wider than the one before: 1 ms to 36 minutes in 80 steps.
create function latency_bucket(begun timestamptz, ended timestamptz) returns smallint
language sql immutable parallel safe as $$
  select least(80, greatest(0,
    floor(ln(greatest(extract(epoch from ended - begun) * 1000, 1)) / ln(1.2))))::smallint
$$;

create index call_by_end on call using brin (finished_at)
  with (pages_per_range = 16, autosummarize = on);
create index call_unsuccessful on call (account_id, created_at desc, request_id desc)
  where status <> 'succeeded';

-- Counts calls that ended since the watermark and moves it: all or nothing, so what a kill
-- interrupts was never counted. Catches up in steps; returns whether there is more to count. Of
-- several processes one counts, the others return. A call's end is the beginning of the
-- transaction that writes it, so only times before the oldest transaction under way are final;
-- one that has run for minutes without writing is a reader, such as a backup.
create function count_ended_calls() returns boolean
language plpgsql
set plan_cache_mode = force_custom_plan
as $$
declare
  since timestamptz;
  final timestamptz;
  until timestamptz;
  counted bigint;
begin
  select counted_until into since from usage_watermark for update skip locked;
  if not found then
    return false;
  end if;
  select least(now() - interval '2 seconds', min(xact_start)) into final
  from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()
    and backend_type = 'client backend'
    and (backend_xid is not null or xact_start > now() - interval '5 minutes');
  if since is null then
    select min(finished_at) into since from call;
  end if;
  if since is null or final <= since then
    return false;
  end if;
  until := least(final, since + interval '6 hours');

  with ended as materialized (
    select account_id, date_trunc('hour', created_at, 'UTC') as hour, model, key_id, endpoint,
      status, charged, finished_at,
      case when status = 'succeeded' and task_id is null
        then latency_bucket(created_at, finished_at) end as bucket
    from call where finished_at >= since and finished_at < until
  ), hours as (
    insert into usage_hour as known
      (account_id, hour, model, key_id, endpoint, calls, errors, cancelled, charged)
    select account_id, hour, model, key_id, endpoint, count(*),
      count(*) filter (where status in ('failed', 'lost')),
      count(*) filter (where status = 'cancelled'), sum(charged)
    from ended group by 1, 2, 3, 4, 5
    on conflict (account_id, hour, model, key_id, endpoint) do update set
      calls = known.calls + excluded.calls, errors = known.errors + excluded.errors,
      cancelled = known.cancelled + excluded.cancelled,
      charged = known.charged + excluded.charged
  ), latencies as (
    insert into latency_hour as known (account_id, hour, model, bucket, calls)
    select account_id, hour, model, bucket, count(*) from ended
    where bucket is not null group by 1, 2, 3, 4
    on conflict (account_id, hour, model, bucket) do update set
      calls = known.calls + excluded.calls
  ), uses as (
    insert into key_use as known (key_id, account_id, calls, charged, last_used_at)
    select key_id, min(account_id), count(*), sum(charged), max(finished_at)
    from ended group by key_id
    on conflict (key_id) do update set calls = known.calls + excluded.calls,
      charged = known.charged + excluded.charged,
      last_used_at = greatest(known.last_used_at, excluded.last_used_at)
  )
  select count(*) into counted from ended;

  if counted = 0 then
    -- Idle time is skipped; while nothing has ended at all, nothing is written.
    select min(finished_at) into until from call
    where finished_at >= until and finished_at < final;
    if until is null then
      return false;
    end if;
  end if;
  update usage_watermark set counted_until = until;
  return until < final;
end $$;
