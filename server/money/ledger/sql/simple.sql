-- revision 10
-- Cheaper forms of ledger_take and ledger_close for one hold and for one account: the same moves,
-- without what those need for refusals, overruns, limits of keys and holds that are closed already.
-- What a form does not decide is left to those.

-- Takes one hold without a limit of its key and without an Idempotency-Key; see ledger_take.
create or replace function ledger_take_one(
  hold_id text, request text, account text, key text, owner text, task text, of_endpoint text,
  of_model text, version bigint, nanos bigint, estimated jsonb, deadline timestamptz
) returns text[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set lock_timeout = '300ms'
as $$
declare
  verdict text;
  money text;
  budgeted integer;
  counted record;
  pinned bigint[];
  refusal text;
begin
  update balance set available = available - nanos, held = held + nanos
  where account_id = account and available >= nanos and (debt = 0 or nanos = 0)
  returning currency, budgets into money, budgeted;
  if not found then
    return ledger_take(array[hold_id], array[request], array[account], array[key], array[owner],
      array[task], array[of_endpoint], array[of_model], array[version], array[nanos],
      jsonb_build_array(estimated), null, null, null, null, deadline);
  end if;
  -- Read once the balance is locked, as in ledger_take.
  if clock_timestamp() > deadline then
    verdict := 'late';
  elsif budgeted = 1 then
    counted := budget_take_sum(account, of_model, nanos, 1, estimated);
    if counted.use_id is not null then
      pinned := array[counted.use_id, counted.asked];
    end if;
  end if;
  if verdict is null and budgeted > 0 and pinned is null then
    if exists (select from hold h where h.id = hold_id and h.account_id = account) then
      -- Its part of the budgets is counted: what is left of them says nothing about it.
      verdict := 'already';
    else
      counted := budget_take(account, key, of_model, nanos, estimated);
      pinned := counted.counters;
      refusal := counted.refusal;
      if refusal is not null then
        verdict := 'spend_limit';
      end if;
    end if;
  end if;
  if verdict is null then
    insert into hold (id, request_id, account_id, key_id, owner_id, task_id, endpoint, model,
      price_version, amount, estimate, labels, counters)
    values (hold_id, request, account, key, owner, task, of_endpoint, of_model, version, nanos,
      estimated - 'labels', estimated -> 'labels', pinned)
    on conflict (id) do nothing;
    if not found then
      verdict := 'already';
      perform budget_return(pinned);
    end if;
  end if;
  if verdict is not null then
    update balance set available = available + nanos, held = held - nanos
    where account_id = account;
    -- As in ledger_judge.
    return case when refusal is not null then array[hold_id || '#budget', refusal] else '{}' end
      || array[hold_id, verdict];
  end if;
  if nanos > 0 then
    insert into entry (posting, step, account_id, currency, source, destination, amount)
    values (hold_id, 'hold', account, money, 'available', 'held', nanos);
  end if;
  return '{}';
end $$;

-- Closes one hold of `nanos` and writes its record; see ledger_close. `nanos` is what the caller
-- believes the hold to be: another amount is found and left to ledger_close.
create or replace function ledger_close_one(
  hold_id text, account text, nanos bigint, charge bigint, of_status text, of_basis text,
  of_review boolean, cost bigint, cost_version bigint, problem text, of_lines jsonb, tries jsonb
) returns text[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set lock_timeout = '300ms'
as $$
declare
  charged_nanos bigint := coalesce(charge, 0);
  freed bigint := nanos - charged_nanos;
  closed record;
  money text;
  is_counted boolean;
begin
  -- The balance first: locks are always taken in this order.
  update balance set held = held - nanos, available = available + freed
  where account_id = account and held >= nanos and freed >= 0 and debt = 0
  returning currency into money;
  if found then
    update hold h set state = case when charge is null then 'released' else 'settled' end,
      closed_at = now(), checkpoint = null
    -- Written so that the partial index of open holds cannot be taken for the primary key.
    where h.id = hold_id and left(h.state, 4) = 'open' and h.amount = nanos
      and h.account_id = account and not h.spend_limited
    returning h.request_id, h.key_id, h.task_id, h.endpoint, h.model, h.price_version, h.labels,
      h.counters, h.created_at
    into closed;
    if not found then
      update balance set held = held + nanos, available = available - freed
      where account_id = account;
      money := null;
    end if;
  end if;
  if money is null then
    return ledger_close(array[hold_id], array[account], array[charge], array[of_status],
      array[of_basis], array[of_review], array[cost], array[cost_version], array[problem],
      array[null]::text[], jsonb_build_array(jsonb_build_object('lines', of_lines,
        'attempts', tries)), '{}');
  end if;

  insert into call (request_id, hold_id, account_id, key_id, task_id, endpoint, model, status,
    basis, review, currency, held, charged, returned, price_version, lines, attempts, error,
    created_at, finished_at, upstream_cost, upstream_cost_version, labels)
  values (closed.request_id, hold_id, account, closed.key_id, closed.task_id, closed.endpoint,
    closed.model, of_status, of_basis, of_review, money, nanos, charged_nanos, freed,
    closed.price_version, of_lines, tries, problem, closed.created_at, call_end(), cost,
    cost_version, closed.labels);
  insert into entry (posting, step, account_id, currency, source, destination, amount)
  select hold_id, posted.step, account, money, 'held', posted.destination, posted.amount
  from (values ('charge', 'revenue', charged_nanos), ('return', 'available', freed))
    as posted (step, destination, amount)
  where posted.amount > 0;
  if closed.counters is not null then
    is_counted := budget_close_one(closed.counters, charge, of_lines);
  end if;
  return '{}';
end $$;

create or replace function ledger_take_same(
  account text, ids text[], request_ids text[], key_ids text[], owner_ids text[],
  task_ids text[], endpoints text[], models text[], price_versions bigint[], amounts bigint[],
  estimates jsonb, deadline timestamptz
) returns text[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set lock_timeout = '300ms'
as $$
declare
  total numeric := (select sum(amount) from unnest(amounts) as a(amount));
  money text;
  budgeted integer;
  counted record;
  only_use bigint;
  only_counted text;
  pins jsonb;
begin
  update balance set available = available - total, held = held + total
  where account_id = account and available >= total and (debt = 0 or total = 0)
  returning currency, budgets into money, budgeted;
  if budgeted = 1 then
    counted := budget_take_sum(account, null, total::bigint, cardinality(ids), null);
    only_use := counted.use_id;
    only_counted := counted.counted;
  end if;
  if budgeted > 0 and only_use is null then
    counted := budget_take_all(account, ids, key_ids, models, amounts, estimates);
    pins := counted.pins;
    if not counted.is_done then
      update balance set available = available + total, held = held - total
      where account_id = account;
      money := null;
    end if;
  end if;
  if money is null then
    return ledger_take(ids, request_ids, array_fill(account, array[cardinality(ids)]), key_ids,
      owner_ids, task_ids, endpoints, models, price_versions, amounts, estimates, null, null, null,
      null, deadline);
  end if;
  -- Read once the balance is locked, as in ledger_take.
  if clock_timestamp() > deadline then
    raise exception 'late' using errcode = 'TR001';
  end if;
  insert into hold (id, request_id, account_id, key_id, owner_id, task_id, endpoint, model,
    price_version, amount, estimate, labels, counters)
  select o.id, o.request_id, account, o.key_id, o.owner_id, o.task_id, o.endpoint, o.model,
    o.price_version, o.amount, o.estimate - 'labels', o.estimate -> 'labels',
    case when only_use is null then (pins ->> o.id)::bigint[]
      else array[only_use, case only_counted when 'money' then o.amount else 1 end] end
  from rows from (
    unnest(ids, request_ids, key_ids, owner_ids, task_ids, endpoints, models, price_versions,
      amounts),
    jsonb_array_elements(estimates)
  ) as o(id, request_id, key_id, owner_id, task_id, endpoint, model, price_version, amount,
    estimate);
  insert into entry (posting, step, account_id, currency, source, destination, amount)
  select o.id, 'hold', account, money, 'available', 'held', o.amount
  from unnest(ids, amounts) as o(id, amount) where o.amount > 0;
  return '{}';
end $$;

-- `amounts` are what the caller believes the holds to be.
create or replace function ledger_close_same(
  account text, ids text[], amounts bigint[], charges bigint[], statuses text[], bases text[],
  reviews boolean[], upstream_costs bigint[], upstream_cost_versions bigint[], errors text[],
  details jsonb
) returns text[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_nestloop = off
set lock_timeout = '300ms'
as $$
declare
  sums record;
  money text;
  released text[] := '{}';
  closed record;
  has_tokens boolean;
begin
  select sum(o.amount) as held, coalesce(sum(o.charge), 0) as charged,
    bool_and(coalesce(o.charge, 0) <= o.amount) as is_covered
  into sums from unnest(amounts, charges) as o(amount, charge);
  if sums.is_covered then
    -- The balance first: locks are always taken in this order.
    update balance set held = held - sums.held, available = available + sums.held - sums.charged
    where account_id = account and held >= sums.held and debt = 0
    returning currency into money;
  end if;
  if money is null then
    return ledger_close(ids, array_fill(account, array[cardinality(ids)]), charges, statuses,
      bases, reviews, upstream_costs, upstream_cost_versions, errors,
      array_fill(null::text, array[cardinality(ids)]), details, '{}');
  end if;
  if array_position(charges, null) is not null then
    released := array(
      select o.id from unnest(ids, charges) as o(id, charge) where o.charge is null);
  end if;

  with ended as (
    update hold h
    set state = case when h.id = any (released) then 'released' else 'settled' end,
      closed_at = now(), checkpoint = null
    -- Written so that the partial index of open holds cannot be taken for the primary key.
    where h.id = any (ids) and left(h.state, 4) = 'open' and h.account_id = account
      and not h.spend_limited
    returning h.id, h.request_id, h.key_id, h.task_id, h.endpoint, h.model, h.amount,
      h.price_version, h.labels, h.counters, h.created_at
  ), recorded as (
    insert into call (request_id, hold_id, account_id, key_id, task_id, endpoint, model, status,
      basis, review, currency, held, charged, returned, price_version, lines, attempts, error,
      created_at, finished_at, upstream_cost, upstream_cost_version, labels)
    select e.request_id, e.id, account, e.key_id, e.task_id, e.endpoint, e.model, o.status,
      o.basis, o.review, money, e.amount, coalesce(o.charge, 0),
      e.amount - coalesce(o.charge, 0), e.price_version, o.detail -> 'lines',
      o.detail -> 'attempts', o.error, e.created_at, (select call_end()), o.upstream_cost,
      o.upstream_cost_version, e.labels
    from ended e join rows from (
      unnest(ids, amounts, charges, statuses, bases, reviews, upstream_costs,
        upstream_cost_versions, errors),
      jsonb_array_elements(details)
    ) as o(id, amount, charge, status, basis, review, upstream_cost, upstream_cost_version, error,
      detail)
      on o.id = e.id and o.amount = e.amount
    returning hold_id, charged, returned
  ), posted as (
    insert into entry (posting, step, account_id, currency, source, destination, amount)
    select r.hold_id, p.step, account, money, 'held', p.destination, p.amount
    from recorded r cross join lateral (values ('charge', 'revenue', r.charged),
      ('return', 'available', r.returned)) as p(step, destination, amount)
    where p.amount > 0
  )
  select r.records, c.* into closed
  from (select count(*) as records from recorded) r
  cross join (
    select count(*) as counted, min(e.counters[1]) as use_id, sum(e.counters[2]) as freed,
      bool_and(cardinality(e.counters) = 2) and min(e.counters[1]) = max(e.counters[1]) as is_one
    from ended e where e.counters is not null) c;
  if closed.records <> cardinality(ids) then
    raise exception '% of % holds closed', closed.records, cardinality(ids) using errcode = 'TR001';
  end if;
  if closed.counted = 0 then
    return '{}';
  end if;
  -- Only tokens are read from the lines.
  has_tokens := exists (select from budget where account_id = account and unit like '%token');
  if closed.counted = closed.records and closed.is_one and not has_tokens then
    perform budget_add(closed.use_id, closed.freed, closed.records - cardinality(released),
      sums.charged);
  else
    perform budget_close_all(array_agg(h.counters::text), array_agg(o.charge),
      case when has_tokens then array_agg(o.detail -> 'lines') end)
    from rows from (unnest(ids, charges), jsonb_array_elements(details)) as o(id, charge, detail)
    join (
      select id, counters from hold
      where id = any (ids) and account_id = account and counters is not null) h on h.id = o.id;
  end if;
  return '{}';
end $$;
