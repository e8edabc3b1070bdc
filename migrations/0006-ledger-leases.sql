-- Leases of gateway processes, and the holds of processes that are dead.

-- Registers or renews a lease by the database's clock. `patience` is the longest gap between two
-- renewals that still counts as steady. Returns the database's time, the number of renewals of this
-- lease and the newest entry of the ledger: both only grow, unless the database went back in time.
create function ledger_renew(
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
-- never more than the hold. One statement judges and closes: it may be delayed in the network or
-- frozen with the server, and decides by the state of the time when it runs. `sweeper` never closes
-- its own holds, and closes none when its own renewals had a gap within the last lease. Accounts
-- that are locked are left for the next time. A charged call keeps its Idempotency-Key; a key
-- without a charge is free again once the process is certainly gone: it ended, or has not renewed
-- for `quiet`. The end of a session says nothing about the life of its process: a broken network
-- ends it as well.
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
      where h.state = 'open' and h.task_id is null and h.created_at < at - interval '1 second'
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
      array_fill(false, array[closed::int]), upstream_costs, upstream_cost_versions,
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

-- Corrects a call that was closed as lost, because its settlement comes after all: charges the
-- amount owed beyond the charge of that time, from the available balance and the rest as debt, or
-- gives back the excess. The difference is posted once, as entries of their own. Not part of the
-- batches: it happens after outages only. `detail` is as that of ledger_close. Returns corrected;
-- already, when the record is not, or no longer, of a lost call; unknown, when there is no such
-- hold; superseded, when the call's Idempotency-Key has been used again since: a key is charged
-- once, and the record stays as it is.
--
-- The counter of a key that got its spend limit after the call was closed moves too: it began with
-- every charge so far, the lost call's among them. Only an amount that was counted for certain is
-- taken out of it again: a gateway with a stale limit may have taken holds that are not counted.
create function ledger_correct(
  corrected_hold text, owed bigint, new_status text, new_basis text, new_review boolean,
  new_upstream_cost bigint, new_upstream_cost_version bigint, new_error text, detail jsonb
) returns text
language plpgsql
set lock_timeout = '300ms'
as $$
declare
  closed hold%rowtype;
  recorded call%rowtype;
  pot balance%rowtype;
  counted timestamptz;
  answer jsonb := detail -> 'answer';
  difference bigint;
  from_available bigint := 0;
begin
  -- Before the balance: whoever counts holds it for longer than a balance may wait.
  select counted_until into counted from usage_watermark for share;
  select * into closed from hold where id = corrected_hold;
  if not found then
    return 'unknown';
  end if;
  select * into pot from balance where account_id = closed.account_id for update;
  select * into recorded from call where hold_id = corrected_hold for update;
  if not found or recorded.status <> 'lost' then
    return 'already';
  end if;
  difference := coalesce(owed, 0) - recorded.charged;
  if difference > 0 and answer ? 'key' then
    insert into idempotency (account_id, key, route, fingerprint, request_id, hold_id)
    values (closed.account_id, answer ->> 'key', coalesce(answer ->> 'route', ''),
      decode(coalesce(answer ->> 'fingerprint', ''), 'hex'), closed.request_id, closed.id)
    on conflict (account_id, key) do nothing;
    if exists (select from idempotency
      where account_id = closed.account_id and key = answer ->> 'key' and hold_id <> closed.id)
    then
      return 'superseded';
    end if;
  end if;

  if recorded.finished_at < counted then
    perform uncount_call(recorded);
  end if;
  if difference > 0 then
    from_available := least(difference, pot.available);
    if from_available > 0 then
      insert into entry (posting, step, account_id, currency, source, destination, amount)
      values (closed.id, 'correction', closed.account_id, pot.currency, 'available', 'revenue',
        from_available);
    end if;
    if difference > from_available then
      insert into entry (posting, step, account_id, currency, source, destination, amount)
      values (closed.id, 'correction_debt', closed.account_id, pot.currency, 'debt', 'revenue',
        difference - from_available);
    end if;
    update balance set available = available - from_available,
      debt = debt + difference - from_available
    where account_id = closed.account_id;
  elsif difference < 0 then
    insert into entry (posting, step, account_id, currency, source, destination, amount)
    values (closed.id, 'correction_return', closed.account_id, pot.currency, 'revenue',
      'available', -difference);
    update balance set available = available - difference where account_id = closed.account_id;
  end if;
  update hold set state = case when owed is null then 'released' else 'settled' end
  where id = closed.id;
  update call set status = new_status, basis = new_basis, review = new_review,
    charged = coalesce(owed, 0), returned = held - least(coalesce(owed, 0), held),
    debt = greatest(0, difference - from_available), lost_charge = recorded.charged,
    lines = coalesce(detail -> 'lines', '[]'), attempts = coalesce(detail -> 'attempts', '[]'),
    error = new_error, upstream_cost = new_upstream_cost,
    upstream_cost_version = new_upstream_cost_version,
    finished_at = clock_timestamp()
  where hold_id = closed.id;
  if difference > 0 or closed.spend_limited then
    perform ledger_spend(array[closed.key_id], array[0::bigint], array[difference]);
  end if;
  if answer is not null then
    perform ledger_answer(array[closed.id], array[closed.account_id], array[answer]);
  end if;
  return 'corrected';
end $$;
