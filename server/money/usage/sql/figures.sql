-- revision 5

-- Each bucket is a fifth wider than the one before: 1 ms to 36 minutes in 80 steps.
create or replace function latency_bucket(begun timestamptz, ended timestamptz) returns smallint
language sql immutable parallel safe as $$
  select least(80, greatest(0,
    floor(ln(greatest(extract(epoch from ended - begun) * 1000, 1)) / ln(1.2))))::smallint
$$;

-- Figures by the quarter of an hour: zones lie whole quarters from UTC, so that their days begin
-- with a row. In rows of whole hours the days of India or Adelaide were half an hour off. Rows that
-- have been counted stay as they are; `hour` keeps its name for the version before, which adds up
-- rows of quarters in the same way.
create or replace function usage_slot(at timestamptz) returns timestamptz
language sql immutable parallel safe as $$
  select date_bin('15 minutes', at, '2000-01-01 00:00:00+00')
$$;

-- The end of a call that is written now: the beginning of the transaction, or final_until where that
-- is later. A server that is busy or paused may show a transaction long after the time at which it
-- began; count_calls cannot wait for one that it does not see.
create or replace function call_end() returns timestamptz
language plpgsql stable as $$
begin
  return greatest(now(), (select final_until from usage_watermark));
end $$;

-- Makes the present the next final_until where calls ended since `counted`; returns whether it did. A
-- turn of the counting does so once: the calls that end meanwhile are counted in the next one.
create or replace function publish_end(counted timestamptz) returns boolean
language plpgsql
set plan_cache_mode = force_custom_plan
as $$
begin
  update usage_watermark set final_until = now()
  where coalesce(final_until < now() - interval '2 seconds', true)
    and exists (select from call where finished_at >= counted);
  return found;
end $$;

-- Counts calls that ended since the watermark and moves it: all or nothing, so a count that a kill
-- interrupts never happened. `step` is the most time of ended calls that one transaction counts;
-- returns whether there is more to count. Of several processes one counts, the others return.
--
-- Two transactions make a time final. The first writes it to final_until. A later one counts up to
-- it, but not beyond the beginning of the oldest transaction that it sees: one that it does not see
-- has yet to read anything, so that call_end reads final_until there. A transaction that has run for
-- minutes without writing is a reader, such as a backup.
create or replace function count_calls(step interval) returns boolean
language plpgsql
set plan_cache_mode = force_custom_plan
as $$
declare
  since timestamptz;
  final timestamptz;
  until timestamptz;
  published timestamptz;
  counted bigint;
  oldest timestamptz;
  added timestamptz;
  account text;
begin
  select counted_until, final_until, days_until, days_account
  into since, published, added, account
  from usage_watermark for update skip locked;
  if not found then
    return false;
  end if;
  select least(published, min(xact_start)) into final
  from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()
    and backend_type = 'client backend'
    and (backend_xid is not null or xact_start > now() - interval '5 minutes');
  if since is null then
    select min(finished_at) into since from call;
  end if;
  if since is null then
    return false;
  end if;
  if published is null or final <= since then
    return publish_end(since);
  end if;
  until := least(final, since + step);

  with ended as materialized (
    select account_id, usage_slot(created_at) as hour, model, key_id, endpoint,
      status, charged, finished_at, currency, upstream_cost,
      coalesce(attempts -> -1 ->> 'channel', '') as channel,
      case when status = 'succeeded' and task_id is null
        then latency_bucket(created_at, finished_at) end as bucket
    from call where finished_at >= since and finished_at < until
  ), summed as materialized (
    select account_id, hour, model, key_id, endpoint, count(*) as calls,
      count(*) filter (where status in ('failed', 'lost')) as errors,
      count(*) filter (where status = 'cancelled') as cancelled, sum(charged) as charged,
      max(charged) as largest, max(finished_at) as last_used_at,
      coalesce(sum(upstream_cost), 0) as upstream_cost,
      coalesce(sum(charged) filter (where upstream_cost is null), 0) as uncosted
    from ended group by 1, 2, 3, 4, 5
  ), hours as (
    insert into usage_hour as known
      (account_id, hour, model, key_id, endpoint, calls, errors, cancelled, charged,
        upstream_cost, uncosted)
    select account_id, hour, model, key_id, endpoint, calls, errors, cancelled, charged,
      upstream_cost, uncosted
    from summed
    on conflict (account_id, hour, model, key_id, endpoint) do update set
      calls = known.calls + excluded.calls, errors = known.errors + excluded.errors,
      cancelled = known.cancelled + excluded.cancelled,
      charged = known.charged + excluded.charged,
      upstream_cost = known.upstream_cost + excluded.upstream_cost,
      uncosted = known.uncosted + excluded.uncosted
  ), channels as (
    insert into channel_hour as known
      (hour, channel, model, currency, calls, errors, charged, upstream_cost, uncosted)
    select hour, channel, model, currency, count(*),
      count(*) filter (where status in ('failed', 'lost')), sum(charged),
      coalesce(sum(upstream_cost), 0),
      coalesce(sum(charged) filter (where upstream_cost is null), 0)
    from ended group by 1, 2, 3, 4
    on conflict (hour, channel, model, currency) do update set
      calls = known.calls + excluded.calls, errors = known.errors + excluded.errors,
      charged = known.charged + excluded.charged,
      upstream_cost = known.upstream_cost + excluded.upstream_cost,
      uncosted = known.uncosted + excluded.uncosted
  ), parts as (
    insert into usage_part as known
      (account_id, part, name, hour, calls, errors, cancelled, charged, largest)
    select account_id, p.part, p.name, hour, sum(calls), sum(errors), sum(cancelled),
      sum(charged), max(largest)
    from summed cross join lateral (values ('all', ''), ('model', model), ('key', key_id),
      ('endpoint', endpoint)) as p(part, name)
    group by 1, 2, 3, 4
    on conflict (account_id, part, name, hour) do update set
      calls = known.calls + excluded.calls, errors = known.errors + excluded.errors,
      cancelled = known.cancelled + excluded.cancelled,
      charged = known.charged + excluded.charged,
      largest = greatest(known.largest, excluded.largest)
  ), latencies as (
    insert into latency_hour as known (account_id, hour, model, bucket, calls)
    select account_id, hour, model, bucket, count(*) from ended
    where bucket is not null group by 1, 2, 3, 4
    on conflict (account_id, hour, model, bucket) do update set
      calls = known.calls + excluded.calls
  ), all_latencies as (
    insert into latency_all as known (account_id, hour, bucket, calls)
    select account_id, hour, bucket, count(*) from ended
    where bucket is not null group by 1, 2, 3
    on conflict (account_id, hour, bucket) do update set
      calls = known.calls + excluded.calls
  ), uses as (
    insert into key_use as known (key_id, account_id, calls, charged, last_used_at)
    select key_id, min(account_id), sum(calls), sum(charged), max(last_used_at)
    from summed group by key_id
    on conflict (key_id) do update set calls = known.calls + excluded.calls,
      charged = known.charged + excluded.charged,
      last_used_at = greatest(known.last_used_at, excluded.last_used_at)
  )
  select count(*), min(hour) into counted, oldest from ended;

  if oldest < added + interval '24 hours' then
    perform count_in_days(since, until, added, account);
  end if;
  if counted = 0 then
    -- Idle time is skipped; while nothing has ended at all, nothing is written.
    select min(finished_at) into until from call
    where finished_at >= until and finished_at < final;
    if until is null then
      return publish_end(final);
    end if;
  end if;
  update usage_watermark set counted_until = until;
  return until < final or publish_end(final);
end $$;

-- All tags of a call as one text, in one order: "a, b". Null for a call without any. No tag has a
-- comma, or a character that JSON escapes.
create or replace function tag_set(labels jsonb) returns text
language plpgsql immutable parallel safe as $$
declare
  tags text := translate(labels ->> 'tags', '["]', '');
begin
  if position(',' in tags) = 0 then
    return nullif(tags, '');
  end if;
  return (select string_agg(distinct tag collate "C", ', ' order by tag collate "C")
    from jsonb_array_elements_text(labels -> 'tags') tag);
end $$;

-- Counts calls that have tags, as far as count_calls has counted all. Tags have a watermark of
-- their own, which never passes the other, since calls from before this version are counted there.
create or replace function count_tagged_calls(step interval) returns boolean
language plpgsql
set plan_cache_mode = force_custom_plan
as $$
declare
  since timestamptz;
  final timestamptz;
  until timestamptz;
  next timestamptz;
  oldest timestamptz;
  added timestamptz;
  account text;
begin
  select tags_until, counted_until, days_until, days_account into since, final, added, account
  from usage_watermark for update skip locked;
  if not found or final is null then
    return false;
  end if;
  if since is null then
    select min(created_at) into since from call;
  end if;
  if since is null or final <= since then
    return false;
  end if;
  until := least(final, since + step);

  with counted as (
    insert into usage_tags as known
      (account_id, hour, tags, model, key_id, endpoint, calls, errors, cancelled, charged)
    select account_id, usage_slot(created_at), tags, model, key_id, endpoint, count(*),
      count(*) filter (where status in ('failed', 'lost')),
      count(*) filter (where status = 'cancelled'), sum(charged)
    from (
      select *, tag_set(labels) as tags from call
      where finished_at >= since and finished_at < until and labels ? 'tags'
      offset 0) c
    where tags is not null
    group by 1, 2, 3, 4, 5, 6
    on conflict (account_id, hour, tags, model, key_id, endpoint) do update set
      calls = known.calls + excluded.calls, errors = known.errors + excluded.errors,
      cancelled = known.cancelled + excluded.cancelled,
      charged = known.charged + excluded.charged
    returning hour
  )
  select min(hour) into oldest from counted;
  if oldest < added + interval '24 hours' then
    perform count_in_days_of_tags(since, until, added, account);
  end if;
  if oldest is null then
    -- Idle time is skipped, up to the next call that begins, or ends, whichever is first.
    select coalesce(min(created_at), final) into next from call where created_at >= until;
    select least(final, next, min(finished_at)) into until from call
    where finished_at >= until and finished_at < next;
  end if;
  update usage_watermark set tags_until = until;
  return until < final;
end $$;

-- Counts one step of all calls that ended, and of those with tags; returns whether there is more
-- to count.
create or replace function count_ended_calls(step interval) returns boolean
language plpgsql as $$
declare
  is_behind boolean := count_calls(step);
begin
  return count_tagged_calls(step) or is_behind;
end $$;
