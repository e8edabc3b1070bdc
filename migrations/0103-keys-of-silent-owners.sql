-- As in 0100, but the end of a process's session says nothing about its life any more: a network that
-- breaks ends it as well, and the key of a call that still ran was free.
alter table owner drop column backend_pid, drop column backend_start;

-- Registers or renews a lease by the database's clock. `patience` is the longest gap between two
-- renewals that still counts as steady. Returns the database's time, how often this lease has been
-- renewed and the newest entry of the ledger: both only grow, unless the database went back in time.
create or replace function ledger_renew(
  renewed_id text, renewed_address text, lease interval, patience interval,
  out at timestamptz, out renewed bigint, out newest_entry bigint
)
language plpgsql as $$
begin
  insert into owner as o (id, address, lease_until, steady_since, renewals)
  values (renewed_id, renewed_address, clock_timestamp() + lease, clock_timestamp(), 1)
  on conflict (id) do update set
    steady_since = case
      when clock_timestamp() - (o.lease_until - lease) between interval '-1 second' and patience
        and o.ended_at is null
      then o.steady_since else clock_timestamp() end,
    lease_until = clock_timestamp() + lease,
    address = excluded.address,
    renewals = o.renewals + 1,
    ended_at = null
  returning o.renewals into renewed;
  newest_entry := coalesce((select max(id) from entry), 0);
  at := clock_timestamp();
end $$;

-- Closes open holds of processes that are dead, at most `most`, charged as of their checkpoints,
-- never more than the hold. Nobody's holds are closed by `sweeper` itself, or by a sweeper whose own
-- renewals had a gap within the last lease. Accounts that somebody else has locked are left for the
-- next time. What was charged keeps its Idempotency-Key; a key without a charge is free again once
-- the process is certainly gone: it ended, its session ended while the server went on, or nothing
-- was heard of it for `quiet`.
create or replace function ledger_sweep(
  sweeper text, lease interval, patience interval, quiet interval, most integer,
  out closed bigint, out charged bigint
)
language plpgsql
set lock_timeout = '300ms'
as $$
declare
  at timestamptz := clock_timestamp();
  witnessed boolean;
  dead text[];
  accounts text[];
  ids text[];
  of_accounts text[];
  charges bigint[];
  costs bigint[];
  cost_versions bigint[];
  details jsonb;
  refused text[];
begin
  -- A clock that was set back must not keep a dead process alive for hours.
  update owner set lease_until = at + lease
  where id <> sweeper and lease_until > at + lease + lease;
  witnessed := exists (
    select from owner where id = sweeper and ended_at is null
      and lease_until - lease > at - patience and steady_since < at - lease);
  dead := array(
    select o.id from owner o
    where o.id <> sweeper and (o.ended_at is not null or (witnessed and o.lease_until < at))
      and exists (select from hold h where h.owner_id = o.id and h.state = 'open')
    order by o.id for update of o skip locked);

  -- Their holds, and those of processes that never registered.
  accounts := array(
    select b.account_id from balance b
    where b.account_id in (
      select h.account_id from hold h
      left join owner o on o.id = h.owner_id
      where h.state = 'open' and h.task_id is null and h.created_at < at - interval '1 second'
        and (h.owner_id = any (dead)
          or (witnessed and o.id is null and h.created_at < at - lease)))
    order by b.account_id for update skip locked);
  select array_agg(o.id), array_agg(o.account_id), array_agg(o.charge), array_agg(o.cost),
    array_agg(o.cost_version), jsonb_agg(jsonb_build_object(
      'lines', coalesce(o.checkpoint -> 'lines', '[]'),
      'attempts', coalesce(o.checkpoint -> 'attempts', '[]')))
  into ids, of_accounts, charges, costs, cost_versions, details
  from (
    select h.id, h.account_id, h.checkpoint,
      -- Null without a checkpoint: least() would pass over it.
      case when h.checkpoint is not null
        then least((h.checkpoint ->> 'charge')::bigint, h.amount) end as charge,
      (h.checkpoint ->> 'cost')::bigint as cost,
      (h.checkpoint ->> 'cost_version')::bigint as cost_version
    from hold h left join owner o on o.id = h.owner_id
    where h.state = 'open' and h.task_id is null and h.account_id = any (accounts)
      and h.created_at < at - interval '1 second'
      and (h.owner_id = any (dead)
        or (witnessed and o.id is null and h.created_at < at - lease))
    order by h.id limit most) o;

  closed := coalesce(cardinality(ids), 0);
  charged := coalesce((select sum(c) from unnest(charges) c), 0);
  if closed > 0 then
    refused := ledger_close(ids, of_accounts, charges, array_fill('lost'::text, array[closed::int]),
      array(select case when c is null then 'none' else 'checkpoint' end
        from unnest(charges) with ordinality as u(c, place) order by place),
      array_fill(false, array[closed::int]), costs, cost_versions,
      array_fill('the process that served this call ended before the call did'::text,
        array[closed::int]),
      array_fill(null::text, array[closed::int]), details, '{}');
    closed := closed - cardinality(refused) / 2;
    update idempotency i set state = case when o.charge > 0 then 'streamed' else 'lost' end
    from unnest(ids, charges) as o(id, charge)
    where i.hold_id = o.id and i.state = 'running';
  end if;

  delete from idempotency i
  using hold h left join owner o on o.id = h.owner_id
  where i.state = 'lost' and h.id = i.hold_id
    and (o.ended_at is not null
      or (witnessed and greatest(o.lease_until - lease, h.created_at) < at - quiet));
end $$;
