-- The ledger's three moves. Each takes an array of operations, so that one round trip and one
-- commit serve all calls that arrived meanwhile. Locks are always taken in the same order:
-- balances by account id, then key_spend, then holds.

-- Takes holds. Returns one outcome per operation:
--   held, already (the same id exists), insufficient, in_debt, spend_limit, no_account,
--   duplicate (the Idempotency-Key is taken).
create function ledger_hold(operations jsonb)
returns table (hold_id text, outcome text)
language plpgsql as $$
#variable_conflict use_column
declare
  operation record;
  locked balance%rowtype;
  spend key_spend%rowtype;
  current_account text;
  verdict text;
  taken integer;
  accepted text[] := '{}';
  refused_ids text[] := '{}';
  refused_outcomes text[] := '{}';
begin
  for operation in
    select o.*, existing.id is not null as exists_already
    from rows from (jsonb_to_recordset(operations) as (
      id text, account_id text, key_id text, amount bigint, spend_limit bigint,
      idempotency_key text, route text, fingerprint text, request_id text
    )) with ordinality as o(id, account_id, key_id, amount, spend_limit,
      idempotency_key, route, fingerprint, request_id, position)
    left join hold existing on existing.id = o.id
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
      when operation.exists_already then 'already'
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
      get diagnostics taken = row_count;
      if taken = 0 then
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
    else
      refused_ids := refused_ids || operation.id;
      refused_outcomes := refused_outcomes || verdict;
    end if;
  end loop;
  if current_account is not null and locked.account_id is not null then
    update balance set available = locked.available, held = locked.held
    where account_id = current_account;
  end if;

  with taken_holds as (
    insert into hold (id, request_id, account_id, key_id, owner_id, task_id, endpoint, model,
      price_version, amount, estimate, spend_limited)
    select o.id, o.request_id, o.account_id, o.key_id, o.owner_id, o.task_id, o.endpoint, o.model,
      o.price_version, o.amount, coalesce(o.estimate, '{}'), o.spend_limit is not null
    from jsonb_to_recordset(operations) as o(
      id text, request_id text, account_id text, key_id text, owner_id text, task_id text,
      endpoint text, model text, price_version bigint, amount bigint, estimate jsonb,
      spend_limit bigint)
    where o.id = any (accepted)
    returning id, account_id, amount
  )
  insert into entry (posting, step, account_id, currency, source, destination, amount)
  select h.id, 'hold', h.account_id, b.currency, 'available', 'held', h.amount
  from taken_holds h join balance b on b.account_id = h.account_id
  where h.amount > 0;

  return query
    select a, 'held'::text from unnest(accepted) a
    union all
    select r.id, r.outcome from unnest(refused_ids, refused_outcomes) as r(id, outcome);
end $$;

-- Closes holds and writes their consumption records. `charge` null releases; a number settles.
-- What a charge needs beyond its hold comes from the available balance, and what that cannot
-- cover becomes debt. `answer` {key, state, status, content_type, body (base64)} is kept for the
-- Idempotency-Key; its state `forget` frees the key. Returns closed for each hold that this very
-- call closed, already for one that was closed before, unknown for one that never was.
create function ledger_settle(operations jsonb)
returns table (hold_id text, outcome text)
language plpgsql as $$
#variable_conflict use_column
declare
  overrun record;
  free_now bigint;
  from_available bigint;
  closed_ids text[];
begin
  perform 1 from balance
  where account_id in (
    select h.account_id from hold h
    join jsonb_to_recordset(operations) as o(hold_id text) on h.id = o.hold_id)
  order by account_id for update;

  with o as (
    select * from jsonb_to_recordset(operations) as o(
      hold_id text, charge bigint, status text, basis text, review boolean, lines jsonb,
      attempts jsonb, error text, task_id text, answer jsonb)
  ), closed as (
    update hold h set state = case when o.charge is null then 'released' else 'settled' end,
      closed_at = now(), checkpoint = null
    from o where h.id = o.hold_id and h.state = 'open'
    returning h.id, h.request_id, h.account_id, h.key_id, h.endpoint, h.model, h.price_version,
      h.amount, h.spend_limited, h.created_at, coalesce(o.task_id, h.task_id) as task_id,
      coalesce(o.charge, 0) as charge, least(coalesce(o.charge, 0), h.amount) as from_hold,
      o.status, o.basis, coalesce(o.review, false) as review, coalesce(o.lines, '[]') as lines,
      coalesce(o.attempts, '[]') as attempts, o.error, o.answer
  ), moved as (
    update balance b set available = b.available + s.returned, held = b.held - s.amount
    from (select account_id, sum(amount) as amount, sum(amount - from_hold) as returned
          from closed group by account_id) s
    where b.account_id = s.account_id
    returning b.account_id, b.currency
  ), spent as (
    update key_spend k set held = k.held - s.amount, spent = k.spent + s.charge
    from (select key_id, sum(amount) as amount, sum(charge) as charge
          from closed where spend_limited group by key_id) s
    where k.key_id = s.key_id
  ), posted as (
    insert into entry (posting, step, account_id, currency, source, destination, amount)
    select c.id, m.step, c.account_id, moved.currency, 'held', m.destination, m.amount
    from closed c join moved on moved.account_id = c.account_id
    cross join lateral (values
      ('charge', 'revenue', c.from_hold),
      ('return', 'available', c.amount - c.from_hold)) as m(step, destination, amount)
    where m.amount > 0
  ), recorded as (
    insert into call (request_id, hold_id, account_id, key_id, task_id, endpoint, model, status,
      basis, review, currency, held, charged, returned, price_version, lines, attempts, error,
      created_at)
    select c.request_id, c.id, c.account_id, c.key_id, c.task_id, c.endpoint, c.model, c.status,
      c.basis, c.review, moved.currency, c.amount, c.charge, c.amount - c.from_hold,
      c.price_version, c.lines, c.attempts, c.error, c.created_at
    from closed c join moved on moved.account_id = c.account_id
  ), answered as (
    update idempotency i set state = c.answer ->> 'state', status = (c.answer ->> 'status')::integer,
      content_type = c.answer ->> 'content_type', body = decode(c.answer ->> 'body', 'base64')
    from closed c
    where c.answer is not null and i.account_id = c.account_id and i.key = c.answer ->> 'key'
      and i.hold_id = c.id and c.answer ->> 'state' <> 'forget'
  ), forgotten as (
    delete from idempotency i using closed c
    where c.answer is not null and i.account_id = c.account_id and i.key = c.answer ->> 'key'
      and i.hold_id = c.id and c.answer ->> 'state' = 'forget'
  )
  select coalesce(array_agg(id), '{}') into closed_ids from closed;

  for overrun in
    select h.id, h.account_id, c.charged - h.amount as beyond
    from hold h join call c on c.hold_id = h.id
    where h.id = any (closed_ids) and c.charged > h.amount
    order by h.account_id, h.id
  loop
    select available into free_now from balance where account_id = overrun.account_id;
    from_available := least(overrun.beyond, free_now);
    update balance set available = available - from_available,
      debt = debt + overrun.beyond - from_available
    where account_id = overrun.account_id;
    insert into entry (posting, step, account_id, currency, source, destination, amount)
    select overrun.id, m.step, overrun.account_id, b.currency, m.source, 'revenue', m.amount
    from balance b cross join (values
      ('overrun', 'available', from_available),
      ('debt', 'debt', overrun.beyond - from_available)) as m(step, source, amount)
    where b.account_id = overrun.account_id and m.amount > 0;
    update call set debt = overrun.beyond - from_available where hold_id = overrun.id;
  end loop;

  return query
    select o.hold_id, case
      when o.hold_id = any (closed_ids) then 'closed'
      when h.id is null then 'unknown'
      else 'already' end
    from jsonb_to_recordset(operations) as o(hold_id text)
    left join hold h on h.id = o.hold_id;
end $$;

-- Puts money in (top-up, promotion, positive adjustment: debt is paid first), takes it back
-- (negative adjustment: never more than is available) or forgives debt. Idempotent by id and
-- by the payment provider's event id. Returns false when it had been done before.
create function ledger_credit(
  credit_id text, credited_account text, credit_kind text, credit_amount bigint,
  credit_reason text, credit_actor text, provider_event text
) returns boolean
language plpgsql as $$
declare
  locked balance%rowtype;
  origin text;
  repaid bigint := 0;
begin
  select * into locked from balance where account_id = credited_account for update;
  if not found then
    raise exception 'no account %', credited_account using errcode = 'foreign_key_violation';
  end if;
  insert into credit (id, account_id, kind, amount, reason, actor, event_id)
  values (credit_id, credited_account, credit_kind, credit_amount, credit_reason, credit_actor,
    provider_event)
  on conflict do nothing;
  if not found then
    return false;
  end if;

  origin := case credit_kind when 'forgiveness' then 'write_off' else credit_kind end;
  if credit_kind = 'forgiveness' then
    if credit_amount < 0 or credit_amount > locked.debt then
      raise exception 'only a debt of % can be forgiven', locked.debt
        using errcode = 'check_violation';
    end if;
    insert into entry (posting, step, account_id, currency, source, destination, amount)
    values (credit_id, 'forgive', credited_account, locked.currency, origin, 'debt',
      credit_amount);
    update balance set debt = debt - credit_amount where account_id = credited_account;
  elsif credit_amount > 0 then
    repaid := least(credit_amount, locked.debt);
    insert into entry (posting, step, account_id, currency, source, destination, amount)
    select credit_id, m.step, credited_account, locked.currency, origin, m.destination, m.amount
    from (values ('repay', 'debt', repaid), ('credit', 'available', credit_amount - repaid))
      as m(step, destination, amount)
    where m.amount > 0;
    update balance set available = available + credit_amount - repaid, debt = debt - repaid
    where account_id = credited_account;
  else
    if locked.available < -credit_amount then
      raise exception 'only % is available', locked.available using errcode = 'check_violation';
    end if;
    insert into entry (posting, step, account_id, currency, source, destination, amount)
    values (credit_id, 'debit', credited_account, locked.currency, 'available', 'adjustment',
      -credit_amount);
    update balance set available = available + credit_amount where account_id = credited_account;
  end if;
  return true;
end $$;
