-- What upstreams cost. A route's costs have the shape of prices and are versioned like them; the
-- cost of a call is written with its record, by the statement that settles it. Null is unknown: the
-- route has no costs, or nobody can tell what the upstream billed. It is never shown to customers.
create table cost (
  version bigint generated always as identity primary key,
  model_id text not null,
  channel_id text not null,
  upstream_model text not null,
  currency text not null,
  costs jsonb not null,
  created_at timestamptz not null default now()
);
create index cost_by_model on cost (model_id, version desc);
create trigger cost_append_only before update or delete or truncate on cost
  for each statement execute function refuse_change();

alter table call
  add column cost bigint check (cost >= 0),
  add column cost_version bigint;

-- The costs that held when the attempt was made.
alter table task_attempt add column cost_version bigint;

-- The most that the upstream can have billed; null where nobody knows.
alter table orphan_cost add column cost bigint check (cost >= 0);

-- As in 0031, with the cost of each call.
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
  costs bigint[] := '{}';
  cost_versions bigint[] := '{}';
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
      o.lines, o.attempts, o.error, o.answer, o.hold_id, coalesce(o.task_id, h.task_id) as task_id,
      o.cost, o.cost_version
    from jsonb_to_recordset(operations) as o(
      hold_id text, charge bigint, status text, basis text, review boolean, lines jsonb,
      attempts jsonb, error text, task_id text, answer jsonb, cost bigint, cost_version bigint)
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
    costs := costs || closed.cost;
    cost_versions := cost_versions || closed.cost_version;
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
    created_at, cost, cost_version)
  select h.request_id, h.id, h.account_id, h.key_id, c.task_id, h.endpoint, h.model, c.status,
    c.basis, c.review, c.currency, h.amount, c.charge, h.amount - c.from_hold, c.debt,
    h.price_version, c.lines, c.attempts, c.error, h.created_at, c.cost, c.cost_version
  from unnest(closed_ids, currencies, charges, charges_from_hold, debts, statuses, bases, reviews,
      all_lines, all_attempts, errors, tasks, costs, cost_versions)
    as c(id, currency, charge, from_hold, debt, status, basis, review, lines, attempts, error,
      task_id, cost, cost_version)
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
