-- revision 6

-- The accounts of holds, for those who do not know them: settlements that a process wrote down before
-- it named the account, and corrections.
create or replace function ledger_accounts(hold_ids text[]) returns text[]
language sql stable
set enable_seqscan = off
as $$
  select array(select distinct account_id from hold where id = any (hold_ids))
$$;

-- Moves the spend of keys with a limit, once their holds are closed.
create or replace function ledger_spend(
  account_ids text[], key_ids text[], amounts bigint[], charges bigint[]
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  used record;
begin
  for used in
    select k.id, sum(k.amount) as amount, sum(k.charge) as charge
    from unnest(ledger_counters(account_ids, key_ids), amounts, charges) as k(id, amount, charge)
    group by 1 order by 1
  loop
    update key_spend set held = held - used.amount, spent = spent + used.charge
    where key_id = used.id;
  end loop;
end $$;

-- Keeps the answers to closed holds under their Idempotency-Keys, or frees the keys.
create or replace function ledger_answer(hold_ids text[], account_ids text[], answers jsonb[])
returns void
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  kept record;
begin
  for kept in
    select * from unnest(hold_ids, account_ids, answers) as a(id, account_id, answer) order by a.id
  loop
    if kept.answer ->> 'state' = 'forget' then
      delete from idempotency
      where account_id = kept.account_id and key = kept.answer ->> 'key' and hold_id = kept.id;
    else
      update idempotency set state = kept.answer ->> 'state',
        status = (kept.answer ->> 'status')::integer,
        content_type = kept.answer ->> 'content_type',
        body = decode(kept.answer ->> 'body', 'base64')
      where account_id = kept.account_id and key = kept.answer ->> 'key' and hold_id = kept.id;
    end if;
  end loop;
end $$;

-- Closes each of `ids` once and writes its record: a charge settles it, null releases it.
-- `details` has one element for each: {"lines", "attempts", "answer"?}. An account that is null is
-- looked up; `also_locked` are accounts that the same transaction is about to take holds of.
-- Returns pairs of id and outcome for holds that were not closed: already, unknown.
create or replace function ledger_close(
  ids text[], account_ids text[], charges bigint[], statuses text[], bases text[],
  reviews boolean[], upstream_costs bigint[], upstream_cost_versions bigint[], errors text[],
  task_ids text[], details jsonb, also_locked text[]
) returns text[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_nestloop = off
set lock_timeout = '300ms'
as $$
declare
  accounts text[] := account_ids;
  released text[] := '{}';
  closed_ids text[];
  ended_holds bigint;
  limited_keys text[];
  limited_amounts bigint[];
  limited_charges bigint[];
  answer_accounts text[];
  answer_ids text[];
  answers jsonb[];
  pinned text[];
  pinned_charges bigint[];
  pinned_lines jsonb[];
begin
  if array_position(accounts, null) is not null then
    accounts := ledger_accounts(ids);
  end if;
  -- First the locks: what is then read of balances and holds cannot change any more.
  perform 1 from balance where account_id = any (accounts || also_locked)
  order by account_id for update;
  if array_position(charges, null) is not null then
    released := array(
      select o.id from unnest(ids, charges) as o(id, charge) where o.charge is null);
  end if;

  with ended as (
    update hold h
    set state = case when h.id = any (released) then 'released' else 'settled' end,
      closed_at = now(), checkpoint = null
    -- Written so that the partial index of open holds cannot be taken for the primary key.
    where h.id = any (ids) and left(h.state, 4) = 'open' and h.account_id = any (accounts)
    returning h.id, h.request_id, h.account_id, h.key_id, h.task_id, h.endpoint, h.model,
      h.amount, h.price_version, h.labels, h.spend_limited,
      h.counters, h.created_at
  ), closed as materialized (
    select e.*, o.status, o.basis, o.review, o.upstream_cost, o.upstream_cost_version, o.error,
      o.detail, coalesce(o.task_id, e.task_id) as work_id, coalesce(o.charge, 0) as charge,
      least(coalesce(o.charge, 0), e.amount) as from_hold
    from ended e join rows from (
      unnest(ids, charges, statuses, bases, reviews, upstream_costs, upstream_cost_versions,
        errors, task_ids),
      jsonb_array_elements(details)
    ) as o(id, charge, status, basis, review, upstream_cost, upstream_cost_version, error,
      task_id, detail)
      on o.id = e.id
  ), sums as materialized (
    -- Within an account what comes back from holds is there before an overrun asks for it.
    -- What is left pays a debt: overruns that found no money while these holds were open.
    select *, greatest(0, least(available - beyond, debt)) as repaid
    from (
      select b.account_id, b.currency, b.debt, s.first_id, s.freed, s.beyond,
        b.available + s.freed - s.charged as available
      from (
        select account_id, min(id) as first_id, sum(amount)::bigint as freed,
          sum(from_hold)::bigint as charged, sum(charge - from_hold)::bigint as beyond
        from closed group by account_id) s
      join (select * from balance where account_id = any (accounts)) b
        on b.account_id = s.account_id) known
  ), overruns as (
    select id, account_id, charge - from_hold as beyond,
      sum(charge - from_hold) over (partition by account_id order by id)
        - (charge - from_hold) as before
    from closed where charge > from_hold
  ), priced as materialized (
    select c.*, s.currency,
      coalesce(greatest(0, least(o.beyond, s.available - o.before)), 0)::bigint as from_available
    from closed c join sums s on s.account_id = c.account_id left join overruns o on o.id = c.id
  ), moved as (
    update balance b set held = b.held - s.freed,
      available = s.available - least(s.beyond, s.available) - s.repaid,
      debt = b.debt + s.beyond - least(s.beyond, s.available) - s.repaid
    from sums s where b.account_id = s.account_id and b.account_id = any (accounts)
  ), recorded as (
    insert into call (request_id, hold_id, account_id, key_id, task_id, endpoint, model, status,
      basis, review, currency, held, charged, returned, debt, price_version, lines, attempts,
      error, created_at, finished_at, upstream_cost, upstream_cost_version, labels)
    select p.request_id, p.id, p.account_id, p.key_id, p.work_id, p.endpoint, p.model, p.status,
      p.basis, p.review, p.currency, p.amount, p.charge, p.amount - p.from_hold,
      p.charge - p.from_hold - p.from_available, p.price_version, p.detail -> 'lines',
      p.detail -> 'attempts', p.error, p.created_at, (select call_end()), p.upstream_cost,
      p.upstream_cost_version, p.labels
    from priced p
  ), posted as (
    insert into entry (posting, step, account_id, currency, source, destination, amount)
    select id, 'charge', account_id, currency, 'held', 'revenue', from_hold
    from priced where from_hold > 0
    union all
    select id, 'return', account_id, currency, 'held', 'available', amount - from_hold
    from priced where amount > from_hold
    union all
    select id, 'overrun', account_id, currency, 'available', 'revenue', from_available
    from priced where from_available > 0
    union all
    select id, 'debt', account_id, currency, 'debt', 'revenue', charge - from_hold - from_available
    from priced where charge > from_hold + from_available
    union all
    select first_id, 'repay', account_id, currency, 'available', 'debt', repaid
    from sums where repaid > 0
  )
  select coalesce(array_agg(p.id), '{}'), (select count(*) from ended),
    array_agg(p.key_id) filter (where p.spend_limited),
    array_agg(p.amount) filter (where p.spend_limited),
    array_agg(p.charge) filter (where p.spend_limited),
    array_agg(p.id) filter (where p.detail ? 'answer'),
    array_agg(p.account_id) filter (where p.detail ? 'answer'),
    array_agg(p.detail -> 'answer') filter (where p.detail ? 'answer'),
    array_agg(p.counters::text) filter (where p.counters is not null),
    array_agg(case when not p.id = any (released) then p.charge end)
      filter (where p.counters is not null),
    array_agg(p.detail -> 'lines') filter (where p.counters is not null)
  into closed_ids, ended_holds, limited_keys, limited_amounts, limited_charges, answer_ids,
    answer_accounts, answers, pinned, pinned_charges, pinned_lines
  from priced p;
  if ended_holds <> cardinality(closed_ids) then
    raise exception '% holds ended with % records', ended_holds, cardinality(closed_ids);
  end if;

  if pinned is not null then
    perform budget_close_all(pinned, pinned_charges, pinned_lines);
  end if;
  if limited_keys is not null then
    perform ledger_spend(accounts, limited_keys, limited_amounts, limited_charges);
  end if;
  if answers is not null then
    perform ledger_answer(answer_ids, answer_accounts, answers);
  end if;
  if cardinality(closed_ids) = cardinality(ids) then
    return '{}';
  end if;
  return array(
    select v.word from (select o.id from unnest(ids) as o(id) except select unnest(closed_ids)) o
    left join (
      select id from hold where id = any (ids) and account_id = any (accounts)) h on h.id = o.id
    cross join lateral (values (1, o.id),
      (2, case when h.id is null then 'unknown' else 'already' end)) as v(place, word)
    order by o.id, v.place);
end $$;

-- Closes holds as ledger_close does, and gives the tokens back that calls counted and did not use:
-- `returned` has elements {"id": hold, "tokens": n, "names": [subject]}; n is negative for a call
-- that used more. Only the call that closes the hold gives back.
create or replace function ledger_close_limited(
  ids text[], account_ids text[], charges bigint[], statuses text[], bases text[],
  reviews boolean[], upstream_costs bigint[], upstream_cost_versions bigint[], errors text[],
  task_ids text[], details jsonb, also_locked text[], returned jsonb
) returns text[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set lock_timeout = '300ms'
as $$
declare
  not_closed text[] := ledger_close(ids, account_ids, charges, statuses, bases, reviews,
    upstream_costs, upstream_cost_versions, errors, task_ids, details, also_locked);
begin
  perform rate_return(n.name, (r ->> 'tokens')::bigint,
    floor(extract(epoch from h.created_at) * 1000)::bigint)
  from jsonb_array_elements(returned) r
  join hold h on h.id = r ->> 'id' and h.account_id = any (account_ids)
  cross join lateral jsonb_array_elements_text(r -> 'names') as n(name)
  where not h.id = any (not_closed);
  return not_closed;
end $$;
