-- What calls cost upstream, in the figures by hour. `uncosted` is the part of `charged` whose cost
-- nobody knows: margins are told of the rest. Operators ask over all accounts, by model and by
-- channel, so they have a small table of their own, whatever the number of accounts and keys.
alter table usage_hour
  add column cost bigint not null default 0,
  add column uncosted bigint not null default 0;
update usage_hour set uncosted = charged;

create table channel_hour (
  hour timestamptz not null,
  -- The last that was tried; empty where none was, or where nobody knows.
  channel text not null,
  model text not null,
  currency text not null,
  calls bigint not null,
  errors bigint not null,
  charged bigint not null,
  cost bigint not null,
  uncosted bigint not null,
  primary key (hour, channel, model, currency)
) with (fillfactor = 70);

insert into channel_hour
select date_trunc('hour', created_at, 'UTC'), coalesce(attempts -> -1 ->> 'channel', ''), model,
  currency, count(*), count(*) filter (where status in ('failed', 'lost')), sum(charged),
  coalesce(sum(cost), 0), coalesce(sum(charged) filter (where cost is null), 0)
from call where finished_at < (select counted_until from usage_watermark)
group by 1, 2, 3, 4;

create or replace function count_ended_calls(step interval) returns boolean
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
  until := least(final, since + step);

  with ended as materialized (
    select account_id, date_trunc('hour', created_at, 'UTC') as hour, model, key_id, endpoint,
      status, charged, finished_at, currency, cost,
      coalesce(attempts -> -1 ->> 'channel', '') as channel,
      case when status = 'succeeded' and task_id is null
        then latency_bucket(created_at, finished_at) end as bucket
    from call where finished_at >= since and finished_at < until
  ), summed as materialized (
    select account_id, hour, model, key_id, endpoint, count(*) as calls,
      count(*) filter (where status in ('failed', 'lost')) as errors,
      count(*) filter (where status = 'cancelled') as cancelled, sum(charged) as charged,
      max(charged) as largest, max(finished_at) as last_used_at,
      coalesce(sum(cost), 0) as cost,
      coalesce(sum(charged) filter (where cost is null), 0) as uncosted
    from ended group by 1, 2, 3, 4, 5
  ), hours as (
    insert into usage_hour as known
      (account_id, hour, model, key_id, endpoint, calls, errors, cancelled, charged, cost, uncosted)
    select account_id, hour, model, key_id, endpoint, calls, errors, cancelled, charged, cost,
      uncosted
    from summed
    on conflict (account_id, hour, model, key_id, endpoint) do update set
      calls = known.calls + excluded.calls, errors = known.errors + excluded.errors,
      cancelled = known.cancelled + excluded.cancelled,
      charged = known.charged + excluded.charged, cost = known.cost + excluded.cost,
      uncosted = known.uncosted + excluded.uncosted
  ), channels as (
    insert into channel_hour as known
      (hour, channel, model, currency, calls, errors, charged, cost, uncosted)
    select hour, channel, model, currency, count(*),
      count(*) filter (where status in ('failed', 'lost')), sum(charged), coalesce(sum(cost), 0),
      coalesce(sum(charged) filter (where cost is null), 0)
    from ended group by 1, 2, 3, 4
    on conflict (hour, channel, model, currency) do update set
      calls = known.calls + excluded.calls, errors = known.errors + excluded.errors,
      charged = known.charged + excluded.charged, cost = known.cost + excluded.cost,
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
