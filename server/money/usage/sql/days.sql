-- revision 1

-- The beginning of the day of UTC.
create or replace function usage_day_of(at timestamptz) returns timestamptz
language sql immutable parallel safe as $$
  select date_bin('1 day', at, '2000-01-01 00:00:00+00')
$$;

-- Whether the day of a quarter is added up for an account, where the days before `added` are, and that
-- day for accounts up to `last`.
create or replace function is_added_up(
  at timestamptz, account_id text, added timestamptz, last text
) returns boolean
language sql immutable parallel safe as $$
  select coalesce(at < added + interval '24 hours' and (at < added or account_id <= last), false)
$$;

-- The days of UTC that lie whole in a period of figures and are added up: from `since`, and before
-- `until`. There may be none.
create or replace function added_days(first timestamptz, last timestamptz)
returns table (since timestamptz, until timestamptz)
language sql stable as $$
  select d.since,
    greatest(d.since, least(usage_day_of(last), coalesce(w.days_until, '-infinity')))
  from usage_watermark w,
    (select usage_day_of(usage_slot(first) + interval '24 hours' - interval '1 microsecond')
      as since) d
$$;

-- What is left of the period before those days and after them.
create or replace function edges_of_days(first timestamptz, last timestamptz)
returns table (since timestamptz, until timestamptz)
language sql stable as $$
  select e.since, e.until from added_days(first, last) d
  cross join lateral (values (usage_slot(first), least(d.since, last)), (d.until, last))
    as e(since, until)
$$;

-- Counts the calls that ended in a period into their days, where these are added up. Few calls end that
-- late, and most counts have none: their statement is not planned with those of the quarters.
create or replace function count_in_days(
  since timestamptz, until timestamptz, added timestamptz, last text
) returns void
language plpgsql
set plan_cache_mode = force_custom_plan
as $$
begin
  with late as materialized (
    select account_id, usage_day_of(created_at) as day, model, key_id, endpoint, currency,
      coalesce(attempts -> -1 ->> 'channel', '') as channel,
      (status in ('failed', 'lost'))::int as error, (status = 'cancelled')::int as cancelled,
      charged, coalesce(upstream_cost, 0) as upstream_cost,
      case when upstream_cost is null then charged else 0 end as uncosted,
      case when status = 'succeeded' and task_id is null
        then latency_bucket(created_at, finished_at) end as bucket
    from call
    where finished_at >= since and finished_at < until
      and created_at < added + interval '24 hours'
  ), channels as (
    insert into channel_day as known
      (day, channel, model, currency, calls, errors, charged, upstream_cost, uncosted)
    select day, channel, model, currency, count(*), sum(error), sum(charged), sum(upstream_cost),
      sum(uncosted)
    from late where day < added group by 1, 2, 3, 4
    on conflict (day, channel, model, currency) do update set
      calls = known.calls + excluded.calls, errors = known.errors + excluded.errors,
      charged = known.charged + excluded.charged,
      upstream_cost = known.upstream_cost + excluded.upstream_cost,
      uncosted = known.uncosted + excluded.uncosted
  ), latencies as (
    insert into latency_day as known (account_id, day, model, bucket, calls)
    select account_id, day, model, bucket, count(*) from late
    where bucket is not null and is_added_up(day, account_id, added, last)
    group by 1, 2, 3, 4
    on conflict (account_id, day, model, bucket) do update set
      calls = known.calls + excluded.calls
  )
  insert into usage_day as known
    (account_id, day, model, key_id, endpoint, calls, errors, cancelled, charged, upstream_cost,
      uncosted)
  select account_id, day, model, key_id, endpoint, count(*), sum(error), sum(cancelled),
    sum(charged), sum(upstream_cost), sum(uncosted)
  from late where is_added_up(day, account_id, added, last)
  group by 1, 2, 3, 4, 5
  on conflict (account_id, day, model, key_id, endpoint) do update set
    calls = known.calls + excluded.calls, errors = known.errors + excluded.errors,
    cancelled = known.cancelled + excluded.cancelled,
    charged = known.charged + excluded.charged,
    upstream_cost = known.upstream_cost + excluded.upstream_cost,
    uncosted = known.uncosted + excluded.uncosted;
end $$;

-- The same for calls with tags.
create or replace function count_in_days_of_tags(
  since timestamptz, until timestamptz, added timestamptz, last text
) returns void
language plpgsql
set plan_cache_mode = force_custom_plan
as $$
begin
  insert into tags_day as known
    (account_id, day, tags, model, key_id, endpoint, calls, errors, cancelled, charged)
  select account_id, usage_day_of(created_at), tags, model, key_id, endpoint, count(*),
    count(*) filter (where status in ('failed', 'lost')),
    count(*) filter (where status = 'cancelled'), sum(charged)
  from (
    select *, tag_set(labels) as tags from call
    where finished_at >= since and finished_at < until
      and created_at < added + interval '24 hours' and labels ? 'tags'
    offset 0) c
  where tags is not null and is_added_up(created_at, account_id, added, last)
  group by 1, 2, 3, 4, 5, 6
  on conflict (account_id, day, tags, model, key_id, endpoint) do update set
    calls = known.calls + excluded.calls, errors = known.errors + excluded.errors,
    cancelled = known.cancelled + excluded.cancelled,
    charged = known.charged + excluded.charged;
end $$;

-- Adds up the figures of the oldest day that is over and not added up, of a few accounts; returns
-- whether there is more to do. Calls that are counted later, or taken out, change the day as well:
-- count_calls, count_tagged_calls and uncount_call hold the watermark, as this does.
create or replace function add_up_day(most integer) returns boolean
language plpgsql
set plan_cache_mode = force_custom_plan
as $$
declare
  counted timestamptz;
  beginning timestamptz;
  added timestamptz;
  after text;
  accounts text[];
begin
  select least(counted_until, tags_until), days_since, days_until, days_account
  into counted, beginning, added, after
  from usage_watermark for update skip locked;
  if not found or counted is null then
    return false;
  end if;
  if beginning is null then
    update usage_watermark set days_since = now();
    return false;
  end if;
  if added is null then
    -- A count that began before this version's functions knows nothing of days.
    if exists (select from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and backend_type = 'client backend' and xact_start <= beginning
        and (backend_xid is not null or xact_start > now() - interval '5 minutes'))
    then
      return false;
    end if;
    select usage_day_of(min(hour)) into added from channel_hour;
  end if;
  -- Calls of its last hour may still run: each that ends later changes rows of the day.
  if coalesce(added + interval '25 hours' > counted, true) then
    return false;
  end if;

  with recursive known(account_id) as (
    (select account_id from usage_part where account_id > after order by account_id limit 1)
    union all
    select (select p.account_id from usage_part p where p.account_id > known.account_id
      order by p.account_id limit 1)
    from known where known.account_id is not null
  )
  select array_agg(account_id) into accounts
  from (select account_id from known where account_id is not null limit most) k;

  insert into usage_day (account_id, day, model, key_id, endpoint, calls, errors, cancelled, charged,
    upstream_cost, uncosted)
  select h.account_id, added, h.model, h.key_id, h.endpoint, sum(h.calls), sum(h.errors),
    sum(h.cancelled), sum(h.charged), sum(h.upstream_cost), sum(h.uncosted)
  from unnest(accounts) a cross join lateral (
    select * from usage_hour
    where account_id = a and hour >= added and hour < added + interval '24 hours' offset 0) h
  group by 1, 2, 3, 4, 5;

  insert into latency_day (account_id, day, model, bucket, calls)
  select h.account_id, added, h.model, h.bucket, sum(h.calls)
  from unnest(accounts) a cross join lateral (
    select * from latency_hour
    where account_id = a and hour >= added and hour < added + interval '24 hours' offset 0) h
  group by 1, 2, 3, 4;

  insert into tags_day (account_id, day, tags, model, key_id, endpoint, calls, errors, cancelled,
    charged)
  select h.account_id, added, h.tags, h.model, h.key_id, h.endpoint, sum(h.calls), sum(h.errors),
    sum(h.cancelled), sum(h.charged)
  from unnest(accounts) a cross join lateral (
    select * from usage_tags
    where account_id = a and hour >= added and hour < added + interval '24 hours' offset 0) h
  group by 1, 2, 3, 4, 5, 6;

  if coalesce(cardinality(accounts), 0) < most then
    insert into channel_day (day, channel, model, currency, calls, errors, charged, upstream_cost,
      uncosted)
    select added, channel, model, currency, sum(calls), sum(errors), sum(charged),
      sum(upstream_cost), sum(uncosted)
    from channel_hour where hour >= added and hour < added + interval '24 hours'
    group by channel, model, currency;
    update usage_watermark set days_until = added + interval '24 hours', days_account = '';
  else
    update usage_watermark set days_until = added, days_account = accounts[most];
  end if;
  return true;
end $$;
