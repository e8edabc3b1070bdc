-- The ledger's moves again, row by row. Set-based statements here joined a handful of operations
-- with tables of millions under plans that were cached while those tables were small; a loop of
-- look-ups by key is linear in the batch and cannot go wrong with the size of a table. Locks are
-- taken in the same order as before: balances by account id, then key_spend, then holds.

-- Both partial indexes filled with dead entries (every hold passes through `open`), and the
-- planner liked them for look-ups by id. Only the sweeper needs one.
drop index hold_open_by_account;

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
begin
  for operation in
    select o.* from rows from (jsonb_to_recordset(operations) as (
      id text, request_id text, account_id text, key_id text, owner_id text, task_id text,
      endpoint text, model text, price_version bigint, amount bigint, estimate jsonb,
      spend_limit bigint, idempotency_key text, route text, fingerprint text
    )) with ordinality as o(id, request_id, account_id, key_id, owner_id, task_id, endpoint,
      model, price_version, amount, estimate, spend_limit, idempotency_key, route, fingerprint,
      position)
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
      insert into hold (id, request_id, account_id, key_id, owner_id, task_id, endpoint, model,
        price_version, amount, estimate, spend_limited)
      values (operation.id, operation.request_id, operation.account_id, operation.key_id,
        operation.owner_id, operation.task_id, operation.endpoint, operation.model,
        operation.price_version, operation.amount, coalesce(operation.estimate, '{}'),
        operation.spend_limit is not null)
      on conflict (id) do nothing;
      if not found then
        verdict := 'already';
      end if;
    end if;
    if verdict = 'held' then
      locked.available := locked.available - operation.amount;
      locked.held := locked.held + operation.amount;
      if operation.spend_limit is not null then
        update key_spend set held = held + operation.amount where key_id = operation.key_id;
      end if;
      if operation.amount > 0 then
        insert into entry (posting, step, account_id, currency, source, destination, amount)
        values (operation.id, 'hold', current_account, locked.currency, 'available', 'held',
          operation.amount);
      end if;
    end if;
    hold_id := operation.id;
    outcome := verdict;
    return next;
  end loop;
  if current_account is not null and locked.account_id is not null then
    update balance set available = locked.available, held = locked.held
    where account_id = current_account;
  end if;
end $$;

create or replace function ledger_settle(operations jsonb)
returns table (hold_id text, outcome text)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  operation record;
  closed hold%rowtype;
  locked balance%rowtype;
  current_account text;
  from_hold bigint;
  from_available bigint;
  owed bigint;
begin
  -- Within an account what comes back from holds is there before an overrun asks for it.
  for operation in
    select o.*, h.account_id from jsonb_to_recordset(operations) as o(
      hold_id text, charge bigint, status text, basis text, review boolean, lines jsonb,
      attempts jsonb, error text, task_id text, answer jsonb)
    left join lateral (
      select account_id, amount from hold where id = o.hold_id limit 1) h on true
    order by h.account_id, coalesce(o.charge, 0) > h.amount, o.hold_id
  loop
    hold_id := operation.hold_id;
    if operation.account_id is null then
      outcome := 'unknown';
      return next;
      continue;
    end if;
    if current_account is distinct from operation.account_id then
      if current_account is not null then
        update balance set available = locked.available, held = locked.held, debt = locked.debt
        where account_id = current_account;
      end if;
      current_account := operation.account_id;
      select * into locked from balance where account_id = current_account for update;
    end if;
    update hold set state = case when operation.charge is null then 'released' else 'settled' end,
      closed_at = now(), checkpoint = null
    -- Written so that the partial index of open holds cannot be taken for the primary key.
    where id = operation.hold_id and left(state, 4) = 'open'
    returning * into closed;
    if not found then
      outcome := 'already';
      return next;
      continue;
    end if;

    from_hold := least(coalesce(operation.charge, 0), closed.amount);
    locked.held := locked.held - closed.amount;
    locked.available := locked.available + closed.amount - from_hold;
    owed := coalesce(operation.charge, 0) - from_hold;
    from_available := least(owed, locked.available);
    locked.available := locked.available - from_available;
    owed := owed - from_available;
    locked.debt := locked.debt + owed;

    insert into entry (posting, step, account_id, currency, source, destination, amount)
    select closed.id, m.step, current_account, locked.currency, m.source, m.destination, m.amount
    from (values
      ('charge', 'held', 'revenue', from_hold),
      ('return', 'held', 'available', closed.amount - from_hold),
      ('overrun', 'available', 'revenue', from_available),
      ('debt', 'debt', 'revenue', owed)) as m(step, source, destination, amount)
    where m.amount > 0;
    insert into call (request_id, hold_id, account_id, key_id, task_id, endpoint, model, status,
      basis, review, currency, held, charged, returned, debt, price_version, lines, attempts,
      error, created_at)
    values (closed.request_id, closed.id, current_account, closed.key_id,
      coalesce(operation.task_id, closed.task_id), closed.endpoint, closed.model,
      operation.status, operation.basis, coalesce(operation.review, false), locked.currency,
      closed.amount, coalesce(operation.charge, 0), closed.amount - from_hold, owed,
      closed.price_version, coalesce(operation.lines, '[]'), coalesce(operation.attempts, '[]'),
      operation.error, closed.created_at);
    if closed.spend_limited then
      update key_spend set held = held - closed.amount,
        spent = spent + coalesce(operation.charge, 0)
      where key_id = closed.key_id;
    end if;
    if operation.answer ->> 'state' = 'forget' then
      delete from idempotency
      where account_id = current_account and key = operation.answer ->> 'key'
        and hold_id = closed.id;
    elsif operation.answer is not null then
      update idempotency set state = operation.answer ->> 'state',
        status = (operation.answer ->> 'status')::integer,
        content_type = operation.answer ->> 'content_type',
        body = decode(operation.answer ->> 'body', 'base64')
      where account_id = current_account and key = operation.answer ->> 'key'
        and hold_id = closed.id;
    end if;
    outcome := 'closed';
    return next;
  end loop;
  if current_account is not null then
    update balance set available = locked.available, held = locked.held, debt = locked.debt
    where account_id = current_account;
  end if;
end $$;
