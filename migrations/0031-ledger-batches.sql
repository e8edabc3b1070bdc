-- The ledger's moves once more: what a batch has in common is done once. A loop still decides
-- about each operation and keeps the balances, but holds, entries and records are written by one
-- statement each: the checks of a table are parsed per statement, and the long ones of `entry`
-- had become a fifth of the database's work. Every look-up is by key and lateral, one operation
-- at a time, so a plan made while tables are small is the right one when they are large. Locks
-- are taken in the same order as ever: balances by account id, then key_spend, then holds.

create or replace function ledger_hold(operations jsonb)
returns table (hold_id text, outcome text)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  operation record;
  locked balance%rowtype;
  spend key_spend%rowtype;
  current_account text;
  verdict text;
  accepted text[] := '{}';
  accounts text[] := '{}';
  currencies text[] := '{}';
  amounts bigint[] := '{}';
  refused_ids text[] := '{}';
  refused_outcomes text[] := '{}';
begin
  for operation in
    select o.*, existing.id is not null as exists_already
    from rows from (jsonb_to_recordset(operations) as (
      id text, account_id text, key_id text, amount bigint, spend_limit bigint,
      idempotency_key text, route text, fingerprint text, request_id text
    )) with ordinality as o(id, account_id, key_id, amount, spend_limit, idempotency_key, route,
      fingerprint, request_id, position)
    left join lateral (select id from hold where id = o.id limit 1) existing on true
    order by o.account_id, o.position
  loop
    if current_account is distinct from operation.account_id then
      if current_account is not null and locked.account_id is not null then
        update balance set available = locked.available, held = locked.held
        where account_id = current_account;
      end if;
      current_account := operation.account_id;
      select * into locked from balance where account_id = current_account for update;
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
      end if;
    end if;
    if verdict = 'held' and operation.idempotency_key is not null then
      insert into idempotency (account_id, key, route, fingerprint, request_id, hold_id)
      values (operation.account_id, operation.idempotency_key, operation.route,
        decode(operation.fingerprint, 'hex'), operation.request_id, operation.id)
      on conflict (account_id, key) do nothing;
      if not found then
        verdict := 'duplicate';
      end if;
    end if;
    if verdict = 'held' then
      locked.available := locked.available - operation.amount;
      locked.held := locked.held + operation.amount;
      if operation.spend_limit is not null then
        update key_spend set held = held + operation.amount where key_id = operation.key_id;
      end if;
      accepted := accepted || operation.id;
      accounts := accounts || current_account;
      currencies := currencies || locked.currency;
      amounts := amounts || operation.amount;
    else
      refused_ids := refused_ids || operation.id;
      refused_outcomes := refused_outcomes || verdict;
    end if;
  end loop;
  if current_account is not null and locked.account_id is not null then
    update balance set available = locked.available, held = locked.held
    where account_id = current_account;
  end if;

  insert into hold (id, request_id, account_id, key_id, owner_id, task_id, endpoint, model,
    price_version, amount, estimate, spend_limited)
  select o.id, o.request_id, o.account_id, o.key_id, o.owner_id, o.task_id, o.endpoint, o.model,
    o.price_version, o.amount, coalesce(o.estimate, '{}'), o.spend_limit is not null
  from jsonb_to_recordset(operations) as o(
    id text, request_id text, account_id text, key_id text, owner_id text, task_id text,
    endpoint text, model text, price_version bigint, amount bigint, estimate jsonb,
    spend_limit bigint)
  where refused_ids = '{}' or o.id = any (accepted);
  insert into entry (posting, step, account_id, currency, source, destination, amount)
  select t.id, 'hold', t.account_id, t.currency, 'available', 'held', t.amount
  from unnest(accepted, accounts, currencies, amounts) as t(id, account_id, currency, amount)
  where t.amount > 0;

  return query
    select a, 'held'::text from unnest(accepted) a
    union all
    select r.id, r.outcome from unnest(refused_ids, refused_outcomes) as r(id, outcome);
end $$;

create or replace function ledger_settle(operations jsonb)
returns table (hold_id text, outcome text)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  closed record;
  locked balance%rowtype;
  current_account text;
  from_hold bigint;
  from_available bigint;
  owed bigint;
  closed_ids text[] := '{}';
  accounts text[] := '{}';
  returns bigint[] := '{}';
  currencies text[] := '{}';
  charges bigint[] := '{}';
  charges_from_hold bigint[] := '{}';
  charges_from_available bigint[] := '{}';
  debts bigint[] := '{}';
  statuses text[] := '{}';
  bases text[] := '{}';
  reviews boolean[] := '{}';
  all_lines jsonb[] := '{}';
  all_attempts jsonb[] := '{}';
  errors text[] := '{}';
  tasks text[] := '{}';
  settled_ids text[] := '{}';
  released_ids text[] := '{}';
begin
  -- First the locks: what the loop then reads of a hold cannot change any more.
  perform 1 from balance
  where account_id = any (array(
    select h.account_id from jsonb_to_recordset(operations) as o(hold_id text)
    cross join lateral (select account_id from hold where id = o.hold_id limit 1) h))
  order by account_id for update;

  for closed in
    select h.id, h.account_id, h.key_id, h.amount, h.spend_limited, h.state,
      coalesce(o.charge, 0) as charge, o.charge is null as released, o.status, o.basis, o.review,
      o.lines, o.attempts, o.error, o.answer, o.hold_id, coalesce(o.task_id, h.task_id) as task_id
    from jsonb_to_recordset(operations) as o(
      hold_id text, charge bigint, status text, basis text, review boolean, lines jsonb,
      attempts jsonb, error text, task_id text, answer jsonb)
    left join lateral (
      select id, account_id, key_id, amount, spend_limited, state, task_id
      from hold where id = o.hold_id limit 1) h on true
    -- Within an account what comes back from holds is there before an overrun asks for it.
    order by h.account_id, coalesce(o.charge, 0) > h.amount, o.hold_id
  loop
    if closed.id is null or closed.state <> 'open' or closed.id = any (closed_ids) then
      hold_id := closed.hold_id;
      outcome := case when closed.id is null then 'unknown' else 'already' end;
      return next;
      continue;
    end if;
    if current_account is distinct from closed.account_id then
      if current_account is not null then
        update balance set available = locked.available, held = locked.held, debt = locked.debt
        where account_id = current_account;
      end if;
      current_account := closed.account_id;
      select * into locked from balance where account_id = current_account;
    end if;
    from_hold := least(closed.charge, closed.amount);
    locked.held := locked.held - closed.amount;
    locked.available := locked.available + closed.amount - from_hold;
    from_available := least(closed.charge - from_hold, locked.available);
    locked.available := locked.available - from_available;
    owed := closed.charge - from_hold - from_available;
    locked.debt := locked.debt + owed;

    closed_ids := closed_ids || closed.id;
    accounts := accounts || current_account;
    returns := returns || closed.amount - from_hold;
    currencies := currencies || locked.currency;
    charges := charges || closed.charge;
    charges_from_hold := charges_from_hold || from_hold;
    charges_from_available := charges_from_available || from_available;
    debts := debts || owed;
    statuses := statuses || closed.status;
    bases := bases || closed.basis;
    reviews := reviews || coalesce(closed.review, false);
    all_lines := all_lines || coalesce(closed.lines, '[]');
    all_attempts := all_attempts || coalesce(closed.attempts, '[]');
    errors := errors || closed.error;
    tasks := tasks || closed.task_id;
    if closed.released then
      released_ids := released_ids || closed.id;
    else
      settled_ids := settled_ids || closed.id;
    end if;
    hold_id := closed.id;
    outcome := 'closed';
    return next;

    if closed.spend_limited then
      update key_spend set held = held - closed.amount, spent = spent + closed.charge
      where key_id = closed.key_id;
    end if;
    if closed.answer ->> 'state' = 'forget' then
      delete from idempotency
      where account_id = current_account and key = closed.answer ->> 'key'
        and hold_id = closed.id;
    elsif closed.answer is not null then
      update idempotency set state = closed.answer ->> 'state',
        status = (closed.answer ->> 'status')::integer,
        content_type = closed.answer ->> 'content_type',
        body = decode(closed.answer ->> 'body', 'base64')
      where account_id = current_account and key = closed.answer ->> 'key'
        and hold_id = closed.id;
    end if;
  end loop;
  if current_account is not null then
    update balance set available = locked.available, held = locked.held, debt = locked.debt
    where account_id = current_account;
  end if;

  if settled_ids <> '{}' then
    update hold set state = 'settled', closed_at = now(), checkpoint = null
    where id = any (settled_ids);
  end if;
  if released_ids <> '{}' then
    update hold set state = 'released', closed_at = now(), checkpoint = null
    where id = any (released_ids);
  end if;
  insert into call (request_id, hold_id, account_id, key_id, task_id, endpoint, model, status,
    basis, review, currency, held, charged, returned, debt, price_version, lines, attempts, error,
    created_at)
  select h.request_id, h.id, h.account_id, h.key_id, c.task_id, h.endpoint, h.model, c.status,
    c.basis, c.review, c.currency, h.amount, c.charge, h.amount - c.from_hold, c.debt,
    h.price_version, c.lines, c.attempts, c.error, h.created_at
  from unnest(closed_ids, currencies, charges, charges_from_hold, debts, statuses, bases, reviews,
      all_lines, all_attempts, errors, tasks)
    as c(id, currency, charge, from_hold, debt, status, basis, review, lines, attempts, error,
      task_id)
  cross join lateral (select * from hold where id = c.id limit 1) h;

  insert into entry (posting, step, account_id, currency, source, destination, amount)
  select c.id, m.step, c.account_id, c.currency, m.source, m.destination, m.amount
  from unnest(closed_ids, accounts, currencies, charges_from_hold, returns,
      charges_from_available, debts)
    as c(id, account_id, currency, from_hold, returned, from_available, debt)
  cross join lateral (values
    ('charge', 'held', 'revenue', c.from_hold),
    ('return', 'held', 'available', c.returned),
    ('overrun', 'available', 'revenue', c.from_available),
    ('debt', 'debt', 'revenue', c.debt)) as m(step, source, destination, amount)
  where m.amount > 0;
end $$;
