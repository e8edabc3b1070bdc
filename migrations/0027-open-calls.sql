-- Open calls whose input is not all in their request: they may cost more than their holds. `nanos` is
-- what each may cost beyond its hold. A row counts as long as its hold is open, like a call_slot, so
-- there is no counter that could drift.
create table open_call (
  account_id text not null,
  hold_id text not null,
  nanos bigint not null,
  primary key (account_id, hold_id)
);

-- Takes holds as ledger_take_limited does, or as ledger_take where `limits` is null. `excesses` has
-- null for a hold that covers its call. One that does not is refused as `uncovered` while others
-- of its account are open, unless the balance covers what all of them may cost together.
create function ledger_take_open(
  ids text[], request_ids text[], account_ids text[], key_ids text[], owner_ids text[],
  task_ids text[], endpoints text[], models text[], price_versions bigint[], amounts bigint[],
  estimates jsonb, spend_limits bigint[], idempotency_keys text[], routes text[],
  fingerprints text[], deadline timestamptz, limits jsonb, excesses bigint[]
) returns text[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_nestloop = off
set lock_timeout = '300ms'
as $$
declare
  operation record;
  running record;
  remaining numeric;
  uncovered text[] := '{}';
  refused text[];
begin
  perform 1 from balance where account_id = any (account_ids) order by account_id for update;
  delete from open_call c where c.account_id = any (account_ids)
    and not exists (select from hold h where h.id = c.hold_id and h.state = 'open');
  for operation in
    select o.* from unnest(ids, account_ids, excesses) with ordinality
      as o(id, account_id, excess, position)
    where o.excess is not null order by o.position
  loop
    select count(*) as calls, coalesce(sum(c.nanos), 0) as nanos into running
    from open_call c where c.account_id = operation.account_id and c.hold_id <> operation.id;
    -- What remains once all holds of this batch are taken.
    select b.available - (
      select sum(o.amount) from unnest(account_ids, amounts) as o(account_id, amount)
      where o.account_id = operation.account_id)
    into remaining from balance b where b.account_id = operation.account_id;
    if running.calls > 0 and running.nanos + operation.excess > remaining then
      uncovered := uncovered || array[operation.id, 'uncovered'];
      -- Without an account the hold is refused, and counts towards no limit.
      account_ids[operation.position] := null;
      if limits is not null then
        limits := jsonb_set(limits, array[(operation.position - 1)::text], 'null');
      end if;
    else
      insert into open_call (account_id, hold_id, nanos)
      values (operation.account_id, operation.id, operation.excess)
      on conflict do nothing;
    end if;
  end loop;
  if limits is null then
    refused := ledger_take(ids, request_ids, account_ids, key_ids, owner_ids, task_ids, endpoints,
      models, price_versions, amounts, estimates, spend_limits, idempotency_keys, routes,
      fingerprints, deadline);
  else
    refused := ledger_take_limited(ids, request_ids, account_ids, key_ids, owner_ids, task_ids,
      endpoints, models, price_versions, amounts, estimates, spend_limits, idempotency_keys,
      routes, fingerprints, deadline, limits);
  end if;
  delete from open_call c where c.hold_id = any (ids) and c.account_id = any (account_ids)
    and not exists (select from hold h where h.id = c.hold_id);
  -- Of two outcomes of a hold the last counts.
  return refused || uncovered;
end $$;
