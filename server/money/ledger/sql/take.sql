-- revision 8
-- Taking holds. A batch comes as arrays, one for each field, and is written with one statement once
-- the balances are locked; a loop decides only about the batches in which a hold may be refused, or a
-- key's limit or an Idempotency-Key is at stake. Only refusals are returned, so a batch without
-- trouble returns nothing, and one statement can close ended calls and take new holds under one
-- commit.
--
-- No table is joined to another: each is read by a list of keys and the results are joined. Plans
-- are cached while tables are small and kept by each connection; the settings of the functions keep
-- such a plan right for tables of millions. Locks are always taken in the same order: balances by
-- account id, then key_spend, then holds. No call waits long for a balance that is locked.

-- The key under which the spend of each of `key_ids` is counted, all of them keys of `account_ids`.
create or replace function ledger_counters(account_ids text[], key_ids text[]) returns text[]
language sql stable
set enable_seqscan = off
set enable_nestloop = off
as $$
  select array_agg(coalesce(k.counter_key_id, o.id) order by o.place)
  from unnest(key_ids) with ordinality as o(id, place)
  left join (
    select id, counter_key_id from api_key
    where id = any (key_ids) and account_id = any (account_ids)) k on k.id = o.id
$$;

-- The current limits of `key_ids`, where one was stated: a gateway's cached limit may be stale.
create or replace function ledger_limits(
  account_ids text[], key_ids text[], spend_limits bigint[]
) returns bigint[]
language sql stable
set enable_seqscan = off
set enable_nestloop = off
as $$
  select array_agg(case when o.spend_limit is not null
    then coalesce(k.spend_limit, o.spend_limit) end order by o.place)
  from unnest(key_ids, spend_limits) with ordinality as o(id, spend_limit, place)
  left join (
    select id, spend_limit from api_key
    where id = any (key_ids) and account_id = any (account_ids)) k on k.id = o.id
$$;

-- Takes holds one after the other, each judged by what those before it have left. The balances are
-- locked by the caller. Limits of keys, budgets and Idempotency-Keys are written here; `pins` has the
-- counters of budgets by hold. A hold that a budget refuses is refused as `spend_limit`, which every
-- version knows, beside a pair of its id with `#budget` and the refusal of budget_take. The limit of
-- a key is a budget without an end, whose id is that of its newest rotation, which has the limit now.
create or replace function ledger_judge(
  ids text[], request_ids text[], account_ids text[], key_ids text[], models text[],
  amounts bigint[], estimates jsonb, spend_limits bigint[], idempotency_keys text[], routes text[],
  fingerprints text[], out accepted text[], out refused text[], out pins jsonb
)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  operation record;
  locked balance%rowtype;
  spend key_spend%rowtype;
  counters bigint[];
  refusal text;
  own_keys text[] := key_ids;
  current_account text;
  warned text;
  verdict text;
begin
  if spend_limits is not null then
    spend_limits := ledger_limits(account_ids, key_ids, spend_limits);
    key_ids := ledger_counters(account_ids, key_ids);
  end if;
  accepted := '{}';
  refused := '{}';
  for operation in
    select o.*, existing.id is not null as exists_already
    from unnest(ids, request_ids, account_ids, key_ids, own_keys, models, amounts, spend_limits,
        idempotency_keys, routes, fingerprints) with ordinality
      as o(id, request_id, account_id, key_id, own_key, model, amount, spend_limit,
        idempotency_key, route, fingerprint, position)
    left join lateral (
      select h.id from hold h where h.id = o.id and h.account_id = o.account_id limit 1
    ) existing on true
    order by o.account_id, o.position
  loop
    if current_account is distinct from operation.account_id then
      current_account := operation.account_id;
      select * into locked from balance where account_id = current_account;
    end if;
    verdict := case
      when operation.exists_already or operation.id = any (accepted) then 'already'
      when locked.account_id is null then 'no_account'
      when operation.amount > 0 and locked.debt > 0 then 'in_debt'
      when locked.available < operation.amount then 'insufficient'
      else 'held' end;
    if verdict = 'held' and operation.spend_limit is not null then
      insert into key_spend (key_id) values (operation.key_id) on conflict do nothing;
      select * into spend from key_spend where key_id = operation.key_id for update;
      if spend.spent + spend.held + operation.amount > operation.spend_limit then
        verdict := 'spend_limit';
        select k.id || ' ' into refusal from api_key k
        where (k.id = operation.key_id or k.counter_key_id = operation.key_id)
          and k.account_id = operation.account_id and k.replaced_by is null;
        refused := refused || array[operation.id || '#budget',
          coalesce(refusal, operation.own_key || ' ')];
      end if;
    end if;
    counters := null;
    if verdict = 'held' and locked.budgets > 0 then
      select t.counters, t.refusal into counters, refusal
      from budget_take(operation.account_id, operation.own_key, operation.model,
        operation.amount, estimates -> (operation.position - 1)::integer) t;
      if refusal is not null then
        verdict := 'spend_limit';
        refused := refused || array[operation.id || '#budget', refusal];
      end if;
    end if;
    if verdict = 'held' and operation.idempotency_key is not null then
      insert into idempotency (account_id, key, route, fingerprint, request_id, hold_id)
      values (operation.account_id, operation.idempotency_key, operation.route,
        decode(operation.fingerprint, 'hex'), operation.request_id, operation.id)
      on conflict (account_id, key) do nothing;
      if not found then
        verdict := 'duplicate';
        perform budget_return(counters);
      end if;
    end if;
    if verdict = 'held' then
      locked.available := locked.available - operation.amount;
      if operation.spend_limit is not null then
        update key_spend set held = held + operation.amount where key_id = operation.key_id;
      end if;
      accepted := array_append(accepted, operation.id);
      if counters is not null then
        pins := coalesce(pins, '{}') || jsonb_build_object(operation.id, counters::text);
      end if;
    else
      refused := refused || array[operation.id, verdict];
      if verdict in ('insufficient', 'in_debt') and warned is distinct from current_account then
        warned := current_account;
        perform alert_balance_empty(current_account, operation.amount);
      end if;
    end if;
  end loop;
end $$;

-- Takes a hold for each of `ids`, unless there is a reason to refuse it. `estimates` has one
-- element for each, whose member `labels`, if any, is kept in a column of its own; `spend_limits` and the three arrays of Idempotency-Keys are null when no hold
-- has one. Returns pairs of id and outcome for the refused: already (the same id exists),
-- insufficient, in_debt, spend_limit (see ledger_judge), no_account, duplicate (the Idempotency-Key is taken), late.
--
-- Past `deadline` all are late, because their callers have been asked to come back and no process
-- would ever close such holds. The time is read once the balances are locked: a release that runs
-- after the deadline under the same lock therefore has the last word. Null is no deadline.
create or replace function ledger_take(
  ids text[], request_ids text[], account_ids text[], key_ids text[], owner_ids text[],
  task_ids text[], endpoints text[], models text[], price_versions bigint[], amounts bigint[],
  estimates jsonb, spend_limits bigint[], idempotency_keys text[], routes text[],
  fingerprints text[], deadline timestamptz
) returns text[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_nestloop = off
set lock_timeout = '300ms'
as $$
declare
  known text[];
  currencies text[];
  available bigint[];
  debts bigint[];
  budgets integer;
  accepted text[];
  refused text[] := '{}';
  pins jsonb;
  is_plain boolean;
begin
  select array_agg(b.account_id), array_agg(b.currency), array_agg(b.available),
    array_agg(b.debt), coalesce(max(b.budgets), 0)
  into known, currencies, available, debts, budgets
  from (select * from balance where account_id = any (account_ids)
    order by account_id for update) b;

  if clock_timestamp() > deadline then
    return array(
      select v.word from unnest(ids) as o(id)
      cross join lateral (values (1, o.id), (2, 'late')) as v(place, word) order by o.id, v.place);
  end if;

  is_plain := spend_limits is null and idempotency_keys is null and budgets = 0
    and not exists (
      select from hold where id = any (ids) and account_id = any (account_ids))
    and not exists (
      select from (
        select o.account_id, sum(o.amount) as total
        from unnest(account_ids, amounts) as o(account_id, amount) group by 1) requested
      left join unnest(known, available, debts) as b(account_id, available, debt)
        on b.account_id = requested.account_id
      where b.account_id is null or b.available < requested.total
        or (b.debt > 0 and requested.total > 0));
  if not is_plain then
    select d.accepted, d.refused, d.pins into accepted, refused, pins
    from ledger_judge(ids, request_ids, account_ids, key_ids, models, amounts, estimates,
      spend_limits, idempotency_keys, routes, fingerprints) d;
  end if;

  with new_holds as materialized (
    select o.* from rows from (
      unnest(ids, request_ids, account_ids, key_ids, owner_ids, task_ids, endpoints, models,
        price_versions, amounts, spend_limits),
      jsonb_array_elements(estimates)
    ) as o(id, request_id, account_id, key_id, owner_id, task_id, endpoint, model, price_version,
      amount, spend_limit, estimate)
    where is_plain or o.id = any (accepted)
  ), taken as (
    insert into hold (id, request_id, account_id, key_id, owner_id, task_id, endpoint, model,
      price_version, amount, estimate, labels, spend_limited, counters)
    select n.id, n.request_id, n.account_id, n.key_id, n.owner_id, n.task_id, n.endpoint, n.model,
      n.price_version, n.amount, n.estimate - 'labels', n.estimate -> 'labels',
      n.spend_limit is not null, (pins ->> n.id)::bigint[]
    from new_holds n
  ), moved as (
    update balance b set available = b.available - requested.total, held = b.held + requested.total
    from (select n.account_id, sum(n.amount) as total from new_holds n group by 1) requested
    where b.account_id = requested.account_id and b.account_id = any (account_ids)
      and requested.total > 0
  )
  insert into entry (posting, step, account_id, currency, source, destination, amount)
  select n.id, 'hold', n.account_id, b.currency, 'available', 'held', n.amount
  from new_holds n join unnest(known, currencies) as b(account_id, currency)
    on b.account_id = n.account_id
  where n.amount > 0;
  return refused;
end $$;

-- Takes holds as ledger_take does, within the limits of `limits` (see rate_decide). A call that any
-- of its limits or the ledger refuses counts towards none. Further outcomes are limited:N, the
-- seconds to wait, and too_many_tokens. Limits with "tell" add the pairs of rate_left.
create or replace function ledger_take_limited(
  ids text[], request_ids text[], account_ids text[], key_ids text[], owner_ids text[],
  task_ids text[], endpoints text[], models text[], price_versions bigint[], amounts bigint[],
  estimates jsonb, spend_limits bigint[], idempotency_keys text[], routes text[],
  fingerprints text[], deadline timestamptz, limits jsonb
) returns text[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_nestloop = off
set lock_timeout = '300ms'
as $$
declare
  now_ms bigint;
  waits integer[];
  refused text[] := '{}';
  over_limits text[] := '{}';
  taken text[];
  part record;
begin
  perform 1 from balance where account_id = any (account_ids) order by account_id for update;
  -- Read under the lock, so that entries are in the order of their times.
  now_ms := extract(epoch from clock_timestamp()) * 1000;
  waits := rate_decide(ids, account_ids, limits, now_ms);
  if not (0 <> any (waits)) then
    refused := ledger_take(ids, request_ids, account_ids, key_ids, owner_ids, task_ids, endpoints,
      models, price_versions, amounts, estimates, spend_limits, idempotency_keys, routes,
      fingerprints, deadline);
  else
    select array_agg(o.id order by o.n) as ids, array_agg(o.request_id order by o.n) as request_ids,
      array_agg(o.account_id order by o.n) as account_ids,
      array_agg(o.key_id order by o.n) as key_ids, array_agg(o.owner_id order by o.n) as owner_ids,
      array_agg(o.task_id order by o.n) as task_ids,
      array_agg(o.endpoint order by o.n) as endpoints, array_agg(o.model order by o.n) as models,
      array_agg(o.price_version order by o.n) as price_versions,
      array_agg(o.amount order by o.n) as amounts, jsonb_agg(o.estimate order by o.n) as estimates,
      array_agg(o.spend_limit order by o.n) as spend_limits,
      array_agg(o.idempotency_key order by o.n) as idempotency_keys,
      array_agg(o.route order by o.n) as routes, array_agg(o.fingerprint order by o.n) as fingerprints
    into part
    from rows from (
      unnest(ids, request_ids, account_ids, key_ids, owner_ids, task_ids, endpoints, models,
        price_versions, amounts, spend_limits, idempotency_keys, routes, fingerprints, waits),
      jsonb_array_elements(estimates)
    ) with ordinality as o(id, request_id, account_id, key_id, owner_id, task_id, endpoint, model,
      price_version, amount, spend_limit, idempotency_key, route, fingerprint, wait, estimate, n)
    where o.wait = 0;
    if part.ids is not null then
      refused := ledger_take(part.ids, part.request_ids, part.account_ids, part.key_ids,
        part.owner_ids, part.task_ids, part.endpoints, part.models, part.price_versions,
        part.amounts, part.estimates, case when spend_limits is not null then part.spend_limits end,
        case when idempotency_keys is not null then part.idempotency_keys end,
        case when idempotency_keys is not null then part.routes end,
        case when idempotency_keys is not null then part.fingerprints end, deadline);
    end if;
    over_limits := array(
      select v.word from unnest(ids, waits) as o(id, wait)
      cross join lateral (values (1, o.id),
        (2, case when o.wait < 0 then 'too_many_tokens' else 'limited:' || o.wait end))
        as v(place, word)
      where o.wait <> 0 order by o.id, v.place);
  end if;

  -- What the ledger refused is in `refused`, what exists already too.
  taken := array(
    select o.id from unnest(ids, waits) as o(id, wait)
    where o.wait = 0 and not o.id = any (refused));
  perform rate_count_all(ids, limits, taken, now_ms);
  insert into call_slot (subject, hold_id)
  select s ->> 'name', o.id
  from rows from (unnest(ids, task_ids), jsonb_array_elements(limits)) as o(id, task_id, rules)
  cross join lateral jsonb_array_elements(
    case when jsonb_typeof(o.rules) = 'object' then o.rules -> 'subjects' end) s
  where o.id = any (taken) and o.task_id is null and s ? 'calls'
  on conflict do nothing;
  return refused || over_limits || rate_left(ids, limits);
end $$;

-- Takes holds as ledger_take_limited does, or as ledger_take where `limits` is null. `excesses` has
-- null for a hold that covers its call. One that does not is refused as `uncovered` while others
-- of its account are open, unless the balance covers what all of them may cost together.
create or replace function ledger_take_open(
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
  existing text[];
begin
  perform 1 from balance where account_id = any (account_ids) order by account_id for update;
  existing := array(
    select id from hold where id = any (ids) and account_id = any (account_ids));
  delete from open_call c where c.account_id = any (account_ids)
    and not exists (select from hold h
      where h.id = c.hold_id and h.account_id = c.account_id and h.state = 'open');
  for operation in
    select o.* from unnest(ids, account_ids, excesses) with ordinality
      as o(id, account_id, excess, position)
    where o.excess is not null and not o.id = any (existing) order by o.position
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
    and not exists (select from hold h
      where h.id = c.hold_id and h.account_id = c.account_id);
  -- Of two outcomes of a hold the last counts.
  return refused || uncovered;
end $$;
