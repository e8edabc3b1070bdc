-- Several holds or settlements of one account, without limits of keys, Idempotency-Keys, answers
-- and overruns: the same moves as ledger_take and ledger_close, with the balance moved by the sums
-- that the caller states and no table joined. A refusal is left to ledger_take before anything is
-- written. What is found later (an id that exists, a deadline that has passed, a hold that is
-- closed or of another amount) raises an error with a state of its own or a unique violation, and
-- the caller sends the batch to ledger_take and ledger_close instead.

create function ledger_take_same(
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
begin
  update balance set available = available - total, held = held + total
  where account_id = account and available >= total and (debt = 0 or total = 0)
  returning currency into money;
  if not found then
    return ledger_take(ids, request_ids, array_fill(account, array[cardinality(ids)]), key_ids,
      owner_ids, task_ids, endpoints, models, price_versions, amounts, estimates, null, null, null,
      null, deadline);
  end if;
  -- Read once the balance is locked, as in ledger_take.
  if clock_timestamp() > deadline then
    raise exception 'late' using errcode = 'TR001';
  end if;
  insert into hold (id, request_id, account_id, key_id, owner_id, task_id, endpoint, model,
    price_version, amount, estimate)
  select o.id, o.request_id, account, o.key_id, o.owner_id, o.task_id, o.endpoint, o.model,
    o.price_version, o.amount, o.estimate
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
create function ledger_close_same(
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
  closed bigint;
begin
  select sum(o.amount) as held, coalesce(sum(o.charge), 0) as charged,
    bool_and(coalesce(o.charge, 0) <= o.amount) as is_covered
  into sums from unnest(amounts, charges) as o(amount, charge);
  if sums.is_covered then
    -- The balance first: locks are always taken in this order.
    update balance set held = held - sums.held, available = available + sums.held - sums.charged
    where account_id = account and held >= sums.held
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
      h.price_version, h.created_at
  ), recorded as (
    insert into call (request_id, hold_id, account_id, key_id, task_id, endpoint, model, status,
      basis, review, currency, held, charged, returned, price_version, lines, attempts, error,
      created_at, upstream_cost, upstream_cost_version)
    select e.request_id, e.id, account, e.key_id, e.task_id, e.endpoint, e.model, o.status,
      o.basis, o.review, money, e.amount, coalesce(o.charge, 0),
      e.amount - coalesce(o.charge, 0), e.price_version, o.detail -> 'lines',
      o.detail -> 'attempts', o.error, e.created_at, o.upstream_cost, o.upstream_cost_version
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
  select count(*) into closed from recorded;
  if closed <> cardinality(ids) then
    raise exception '% of % holds closed', closed, cardinality(ids) using errcode = 'TR001';
  end if;
  return '{}';
end $$;
