-- A hold or a settlement that travels alone, as most do on a gateway that is not busy: the same
-- moves as ledger_take and ledger_close, without arrays and joins. What needs more (a refusal, an
-- overrun, a key's limit, a hold that is already closed) is left to those, with nothing written.

-- PostgreSQL reads every check of a table again for each statement: a list of names costs up to
-- 10 µs, a function 3. The rows there are fulfil the same conditions already.
create function is_entry(step text, source text, destination text, amount bigint) returns boolean
language plpgsql immutable parallel safe as $$
begin
  return amount > 0 and source <> destination
    and step in ('hold', 'charge', 'return', 'overrun', 'debt', 'credit', 'repay', 'debit',
      'forgive', 'correction', 'correction_debt', 'correction_return')
    and source in ('available', 'held', 'debt', 'top_up', 'promotion', 'adjustment', 'write_off',
      'revenue')
    and destination in ('available', 'held', 'debt', 'revenue', 'adjustment');
end $$;
alter table entry
  drop constraint entry_step_check, drop constraint entry_source_check,
  drop constraint entry_destination_check, drop constraint entry_amount_check,
  drop constraint entry_check,
  add constraint entry_check check (is_entry(step, source, destination, amount)) not valid;

create function is_hold(state text, amount bigint) returns boolean
language plpgsql immutable parallel safe as $$
begin
  return amount >= 0 and state in ('open', 'settled', 'released');
end $$;
alter table hold
  drop constraint hold_amount_check, drop constraint hold_state_check,
  add constraint hold_check check (is_hold(state, amount)) not valid;

create function is_call(
  status text, charged bigint, returned bigint, debt bigint, upstream_cost bigint,
  lost_charge bigint
) returns boolean
language plpgsql immutable parallel safe as $$
begin
  -- `least` passes over null.
  return status in ('succeeded', 'failed', 'cancelled', 'lost')
    and least(charged, returned, debt, upstream_cost, lost_charge) >= 0;
end $$;
alter table call
  drop constraint call_status_check, drop constraint call_charged_check,
  drop constraint call_returned_check, drop constraint call_debt_check,
  drop constraint call_upstream_cost_check, drop constraint call_lost_charge_check,
  add constraint call_check check (is_call(status, charged, returned, debt, upstream_cost,
    lost_charge)) not valid;

-- Takes one hold without a limit of its key and without an Idempotency-Key; see ledger_take.
create function ledger_take_one(
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
begin
  update balance set available = available - nanos, held = held + nanos
  where account_id = account and available >= nanos and (debt = 0 or nanos = 0)
  returning currency into money;
  if not found then
    return ledger_take(array[hold_id], array[request], array[account], array[key], array[owner],
      array[task], array[of_endpoint], array[of_model], array[version], array[nanos],
      jsonb_build_array(estimated), null, null, null, null, deadline);
  end if;
  -- Read once the balance is locked, as in ledger_take.
  if clock_timestamp() > deadline then
    verdict := 'late';
  else
    insert into hold (id, request_id, account_id, key_id, owner_id, task_id, endpoint, model,
      price_version, amount, estimate)
    values (hold_id, request, account, key, owner, task, of_endpoint, of_model, version, nanos,
      estimated)
    on conflict (id) do nothing;
    if not found then
      verdict := 'already';
    end if;
  end if;
  if verdict is not null then
    update balance set available = available + nanos, held = held - nanos
    where account_id = account;
    return array[hold_id, verdict];
  end if;
  if nanos > 0 then
    insert into entry (posting, step, account_id, currency, source, destination, amount)
    values (hold_id, 'hold', account, money, 'available', 'held', nanos);
  end if;
  return '{}';
end $$;

-- Closes one hold of `nanos` and writes its record; see ledger_close. `nanos` is what the caller
-- believes the hold to be: another amount is found and left to ledger_close.
create function ledger_close_one(
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
begin
  -- The balance first: locks are always taken in this order.
  update balance set held = held - nanos, available = available + freed
  where account_id = account and held >= nanos and freed >= 0
  returning currency into money;
  if found then
    update hold h set state = case when charge is null then 'released' else 'settled' end,
      closed_at = now(), checkpoint = null
    -- Written so that the partial index of open holds cannot be taken for the primary key.
    where h.id = hold_id and left(h.state, 4) = 'open' and h.amount = nanos
      and h.account_id = account and not h.spend_limited
    returning h.request_id, h.key_id, h.task_id, h.endpoint, h.model, h.price_version, h.created_at
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
    created_at, upstream_cost, upstream_cost_version)
  values (closed.request_id, hold_id, account, closed.key_id, closed.task_id, closed.endpoint,
    closed.model, of_status, of_basis, of_review, money, nanos, charged_nanos, freed,
    closed.price_version, of_lines, tries, problem, closed.created_at, cost, cost_version);
  insert into entry (posting, step, account_id, currency, source, destination, amount)
  select hold_id, posted.step, account, money, 'held', posted.destination, posted.amount
  from (values ('charge', 'revenue', charged_nanos), ('return', 'available', freed))
    as posted (step, destination, amount)
  where posted.amount > 0;
  return '{}';
end $$;
