-- The figures again, by one part at a time: an account with many models and keys has nearly as
-- many combinations in an hour as calls, but only a few dozen names. `usage_hour` stays for
-- figures that are narrowed by one part and shown by another.
create table usage_part (
  account_id text not null,
  part text not null check (part in ('all', 'model', 'key', 'endpoint')),
  -- A model's id, a key's id or an endpoint; empty for all.
  name text not null,
  hour timestamptz not null,
  calls bigint not null,
  errors bigint not null,
  cancelled bigint not null,
  charged bigint not null,
  -- The largest charge of one call: lists of large charges skip hours without one.
  largest bigint not null,
  primary key (account_id, part, name, hour)
) with (fillfactor = 70);

create table latency_all (
  account_id text not null,
  hour timestamptz not null,
  bucket smallint not null,
  calls bigint not null,
  primary key (account_id, hour, bucket)
) with (fillfactor = 70);

-- What was counted before counts here as well; its largest charge is not known, so its sum.
insert into usage_part
select account_id, p.part, p.name, hour, sum(calls), sum(errors), sum(cancelled), sum(charged),
  sum(charged)
from usage_hour cross join lateral (values ('all', ''), ('model', model), ('key', key_id),
  ('endpoint', endpoint)) as p(part, name)
group by 1, 2, 3, 4;
insert into latency_all
select account_id, hour, bucket, sum(calls) from latency_hour group by 1, 2, 3;

-- `step` is the most time of ended calls that one transaction counts.
drop function count_ended_calls();
create function count_ended_calls(step interval) returns boolean
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
      status, charged, finished_at,
      case when status = 'succeeded' and task_id is null
        then latency_bucket(created_at, finished_at) end as bucket
    from call where finished_at >= since and finished_at < until
  ), summed as materialized (
    select account_id, hour, model, key_id, endpoint, count(*) as calls,
      count(*) filter (where status in ('failed', 'lost')) as errors,
      count(*) filter (where status = 'cancelled') as cancelled, sum(charged) as charged,
      max(charged) as largest, max(finished_at) as last_used_at
    from ended group by 1, 2, 3, 4, 5
  ), hours as (
    insert into usage_hour as known
      (account_id, hour, model, key_id, endpoint, calls, errors, cancelled, charged)
    select account_id, hour, model, key_id, endpoint, calls, errors, cancelled, charged from summed
    on conflict (account_id, hour, model, key_id, endpoint) do update set
      calls = known.calls + excluded.calls, errors = known.errors + excluded.errors,
      cancelled = known.cancelled + excluded.cancelled,
      charged = known.charged + excluded.charged
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
