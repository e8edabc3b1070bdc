-- Which process is alive is judged by renewals that got through, not by the clock alone. While the
-- database is away nobody can renew, so silence counts only where the one who judges renewed its
-- own lease without a gap during all of that silence. One statement judges and closes: it may be
-- held in the network or frozen with the server, and decides by what is true when it runs.
alter table owner
  -- Since when this process has renewed without a gap.
  add column steady_since timestamptz not null default clock_timestamp(),
  add column renewals bigint not null default 0,
  -- Ended by itself, or known to be gone: its calls are closed at once.
  add column ended_at timestamptz,
  -- The session of the last renewal: while it lasts, the process may be alive.
  add column backend_pid integer,
  add column backend_start timestamptz;

-- lost: the hold was closed without a charge and the process that ran the call may still run.
alter table idempotency drop constraint idempotency_state_check,
  add constraint idempotency_state_check
    check (state in ('running', 'finished', 'streamed', 'lost')) not valid;
create index idempotency_lost on idempotency (created_at) where state = 'lost';

-- Registers or renews a lease by the database's clock. `patience` is the longest gap between two
-- renewals that still counts as steady. Returns the database's time, how often this lease has been
-- renewed and the newest entry of the ledger: both only grow, unless the database went back in time.
create function ledger_renew(
  renewed_id text, renewed_address text, lease interval, patience interval,
  out at timestamptz, out renewed bigint, out newest_entry bigint
)
language plpgsql as $$
begin
  insert into owner as o (id, address, lease_until, steady_since, renewals, backend_pid,
    backend_start)
  select renewed_id, renewed_address, clock_timestamp() + lease, clock_timestamp(), 1,
    pg_backend_pid(), a.backend_start
  from pg_stat_get_activity(pg_backend_pid()) a
  on conflict (id) do update set
    steady_since = case
      when clock_timestamp() - (o.lease_until - lease) between interval '-1 second' and patience
        and o.ended_at is null
      then o.steady_since else clock_timestamp() end,
    lease_until = clock_timestamp() + lease,
    address = excluded.address,
    renewals = o.renewals + 1,
    ended_at = null,
    backend_pid = excluded.backend_pid,
    backend_start = excluded.backend_start
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
create function ledger_sweep(
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
      or (witnessed and greatest(o.lease_until - lease, h.created_at) < at - quiet)
      or (witnessed and o.lease_until < at and o.backend_pid is not null
        and pg_postmaster_start_time() < o.lease_until - lease
        and not exists (
          select from pg_stat_get_activity(o.backend_pid) a
          where a.backend_start = o.backend_start)));
end $$;
