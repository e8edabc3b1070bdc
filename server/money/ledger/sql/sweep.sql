-- revision 4

-- Leases of gateway processes, and the holds of processes that are dead.

-- Registers or renews a lease by the database's clock. `patience` is the longest gap between two
-- renewals that still counts as steady. Returns the database's time, the number of renewals of this
-- lease and the newest entry of the ledger: both only grow, unless the database went back in time.
-- The newest entries of a quiet ledger may be archived. They are sealed, so the last block has
-- reached their ids.
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
  newest_entry := greatest(0, (select max(id) from entry),
    (select max(upto_id) from ledger_block));
  at := clock_timestamp();
end $$;

-- Closes open holds of processes that are dead, at most `most`, charged as of their checkpoints,
-- never more than the hold. One statement judges and closes: it may be delayed in the network or
-- held up with the server, and decides by the state of the time when it runs. A hold of a dead
-- process that lies further ahead than a lease was taken before the clock was set back, and is old.
-- `sweeper` never closes its own holds, and closes none when its own renewals had a gap within the
-- last lease. Accounts that are locked are left for the next time. A charged call keeps its Idempotency-Key; a key
-- without a charge is free again once the process is certainly gone: it ended, or has not renewed
-- for `quiet`. The end of a session says nothing about the life of its process: a broken network
-- ends it as well.
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
  upstream_costs bigint[];
  upstream_cost_versions bigint[];
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
      where h.state = 'open' and h.task_id is null
        and h.created_at not between at - interval '1 second' and at + lease
        and (h.owner_id = any (dead)
          or (witnessed and o.id is null and h.created_at < at - lease)))
    order by b.account_id for update skip locked);
  select array_agg(o.id), array_agg(o.account_id), array_agg(o.charge), array_agg(o.upstream_cost),
    array_agg(o.upstream_cost_version), jsonb_agg(jsonb_build_object(
      'lines', coalesce(o.checkpoint -> 'lines', '[]'),
      'attempts', coalesce(o.checkpoint -> 'attempts', '[]')))
  into ids, of_accounts, charges, upstream_costs, upstream_cost_versions, details
  from (
    select h.id, h.account_id, h.checkpoint,
      -- Null without a checkpoint: least() would pass over it.
      case when h.checkpoint is not null
        then least((h.checkpoint ->> 'charge')::bigint, h.amount) end as charge,
      (h.checkpoint ->> 'upstream_cost')::bigint as upstream_cost,
      (h.checkpoint ->> 'upstream_cost_version')::bigint as upstream_cost_version
    from hold h left join owner o on o.id = h.owner_id
    where h.state = 'open' and h.task_id is null and h.account_id = any (accounts)
      and h.created_at not between at - interval '1 second' and at + lease
      and (h.owner_id = any (dead)
        or (witnessed and o.id is null and h.created_at < at - lease))
    order by h.id limit most) o;

  closed := coalesce(cardinality(ids), 0);
  charged := coalesce((select sum(c) from unnest(charges) c), 0);
  if closed > 0 then
    refused := ledger_close(ids, of_accounts, charges, array_fill('lost'::text, array[closed::int]),
      array(select case when c is null then 'none' else 'checkpoint' end
        from unnest(charges) with ordinality as u(c, place) order by place),
      array_fill(false, array[closed::int]), upstream_costs, upstream_cost_versions,
      array_fill('the process that served this call ended before the call did'::text,
        array[closed::int]),
      array_fill(null::text, array[closed::int]), details, '{}');
    closed := closed - cardinality(refused) / 2;
    update idempotency i set state = case when o.charge > 0 then 'streamed' else 'lost' end
    from unnest(ids, of_accounts, charges) as o(id, account_id, charge)
    where i.hold_id = o.id and i.account_id = o.account_id and i.state = 'running';
  end if;

  delete from idempotency i
  using hold h left join owner o on o.id = h.owner_id
  where i.state = 'lost' and h.id = i.hold_id
    and (o.ended_at is not null
      or (witnessed and greatest(o.lease_until - lease, h.created_at) < at - quiet));
end $$;
