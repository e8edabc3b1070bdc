-- Taking and closing holds. `ledger_take` and `ledger_close` take a batch as arrays, one for each
-- field, and write it with one statement each once the balances are locked; a loop decides only
-- about the batches in which a hold may be refused, or a key's limit or an Idempotency-Key is at
-- stake. Both return the operations that were refused, so a batch without trouble returns nothing,
-- and one statement can close ended calls and take new holds under one commit.
--
-- No table is joined to another: each is read by a list of keys and the results are joined. Plans
-- are cached while tables are small and kept by each connection; the settings of the functions keep
-- such a plan right for tables of millions. Locks are always taken in the same order: balances by
-- account id, then key_spend, then holds. No call waits long for a balance that is locked.

-- The key under which the spend of each of `key_ids` is counted.
create function ledger_counters(key_ids text[]) returns text[]
language sql stable
set enable_seqscan = off
set enable_nestloop = off
as $$
  select array_agg(coalesce(k.counter_key_id, o.id) order by o.place)
  from unnest(key_ids) with ordinality as o(id, place)
  left join (select id, counter_key_id from api_key where id = any (key_ids)) k on k.id = o.id
$$;

-- The current limits of `key_ids`, where one was stated: a gateway's cached limit may be stale.
create function ledger_limits(key_ids text[], spend_limits bigint[]) returns bigint[]
language sql stable
set enable_seqscan = off
set enable_nestloop = off
as $$
  select array_agg(case when o.spend_limit is not null
    then coalesce(k.spend_limit, o.spend_limit) end order by o.place)
  from unnest(key_ids, spend_limits) with ordinality as o(id, spend_limit, place)
  left join (select id, spend_limit from api_key where id = any (key_ids)) k on k.id = o.id
$$;

-- Takes holds one after the other, each judged by what those before it have left. The balances are
-- locked by the caller. Limits of keys and Idempotency-Keys are written here.
create function ledger_decide(
  ids text[], request_ids text[], account_ids text[], key_ids text[], amounts bigint[],
  spend_limits bigint[], idempotency_keys text[], routes text[], fingerprints text[],
  out accepted text[], out refused text[]
)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  operation record;
  locked balance%rowtype;
  spend key_spend%rowtype;
  current_account text;
  verdict text;
begin
  if spend_limits is not null then
    spend_limits := ledger_limits(key_ids, spend_limits);
    key_ids := ledger_counters(key_ids);
  end if;
  accepted := '{}';
  refused := '{}';
  for operation in
    select o.*, existing.id is not null as exists_already
    from unnest(ids, request_ids, account_ids, key_ids, amounts, spend_limits, idempotency_keys,
        routes, fingerprints) with ordinality
      as o(id, request_id, account_id, key_id, amount, spend_limit, idempotency_key, route,
        fingerprint, position)
    left join lateral (select h.id from hold h where h.id = o.id limit 1) existing on true
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
      if operation.spend_limit is not null then
        update key_spend set held = held + operation.amount where key_id = operation.key_id;
      end if;
      accepted := array_append(accepted, operation.id);
    else
      refused := refused || array[operation.id, verdict];
    end if;
  end loop;
end $$;

-- Takes a hold for each of `ids`, unless there is a reason to refuse it. `estimates` has one
-- element for each; `spend_limits` and the three arrays of Idempotency-Keys are null when no hold
-- has one. Returns pairs of id and outcome for the refused: already (the same id exists),
-- insufficient, in_debt, spend_limit, no_account, duplicate (the Idempotency-Key is taken), late.
--
-- Past `deadline` all are late, because their callers have been told to come back and no process
-- would ever close such holds. The time is read once the balances are locked: a release that runs
-- after the deadline under the same lock therefore has the last word. Null is no deadline.
create function ledger_take(
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
  accepted text[];
  refused text[] := '{}';
  is_plain boolean;
begin
  select array_agg(b.account_id), array_agg(b.currency), array_agg(b.available), array_agg(b.debt)
  into known, currencies, available, debts
  from (select * from balance where account_id = any (account_ids)
    order by account_id for update) b;

  if clock_timestamp() > deadline then
    return array(
      select v.word from unnest(ids) as o(id)
      cross join lateral (values (1, o.id), (2, 'late')) as v(place, word) order by o.id, v.place);
  end if;

  is_plain := spend_limits is null and idempotency_keys is null
    and not exists (select from hold where id = any (ids))
    and not exists (
      select from (
        select o.account_id, sum(o.amount) as total
        from unnest(account_ids, amounts) as o(account_id, amount) group by 1) requested
      left join unnest(known, available, debts) as b(account_id, available, debt)
        on b.account_id = requested.account_id
      where b.account_id is null or b.available < requested.total
        or (b.debt > 0 and requested.total > 0));
  if not is_plain then
    select d.accepted, d.refused into accepted, refused
    from ledger_decide(ids, request_ids, account_ids, key_ids, amounts, spend_limits,
      idempotency_keys, routes, fingerprints) d;
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
      price_version, amount, estimate, spend_limited)
    select n.id, n.request_id, n.account_id, n.key_id, n.owner_id, n.task_id, n.endpoint, n.model,
      n.price_version, n.amount, n.estimate, n.spend_limit is not null
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

-- Moves the spend of keys with a limit, once their holds are closed.
create function ledger_spend(key_ids text[], amounts bigint[], charges bigint[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  used record;
begin
  for used in
    select k.id, sum(k.amount) as amount, sum(k.charge) as charge
    from unnest(ledger_counters(key_ids), amounts, charges) as k(id, amount, charge)
    group by 1 order by 1
  loop
    update key_spend set held = held - used.amount, spent = spent + used.charge
    where key_id = used.id;
  end loop;
end $$;

-- Keeps the answers to closed holds under their Idempotency-Keys, or frees the keys.
create function ledger_answer(hold_ids text[], account_ids text[], answers jsonb[]) returns void
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
create function ledger_close(
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
begin
  if array_position(accounts, null) is not null then
    accounts := array(select distinct account_id from hold where id = any (ids));
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
    where h.id = any (ids) and left(h.state, 4) = 'open'
    returning h.id, h.request_id, h.account_id, h.key_id, h.task_id, h.endpoint, h.model,
      h.amount, h.price_version, h.spend_limited, h.created_at
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
    select b.account_id, b.currency, s.freed, s.beyond,
      b.available + s.freed - s.charged as available
    from (
      select account_id, sum(amount)::bigint as freed, sum(from_hold)::bigint as charged,
        sum(charge - from_hold)::bigint as beyond
      from closed group by account_id) s
    join (select * from balance where account_id = any (accounts)) b
      on b.account_id = s.account_id
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
      available = s.available - least(s.beyond, s.available),
      debt = b.debt + s.beyond - least(s.beyond, s.available)
    from sums s where b.account_id = s.account_id and b.account_id = any (accounts)
  ), recorded as (
    insert into call (request_id, hold_id, account_id, key_id, task_id, endpoint, model, status,
      basis, review, currency, held, charged, returned, debt, price_version, lines, attempts,
      error, created_at, upstream_cost, upstream_cost_version)
    select p.request_id, p.id, p.account_id, p.key_id, p.work_id, p.endpoint, p.model, p.status,
      p.basis, p.review, p.currency, p.amount, p.charge, p.amount - p.from_hold,
      p.charge - p.from_hold - p.from_available, p.price_version, p.detail -> 'lines',
      p.detail -> 'attempts', p.error, p.created_at, p.upstream_cost, p.upstream_cost_version
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
  )
  select coalesce(array_agg(p.id), '{}'), (select count(*) from ended),
    array_agg(p.key_id) filter (where p.spend_limited),
    array_agg(p.amount) filter (where p.spend_limited),
    array_agg(p.charge) filter (where p.spend_limited),
    array_agg(p.id) filter (where p.detail ? 'answer'),
    array_agg(p.account_id) filter (where p.detail ? 'answer'),
    array_agg(p.detail -> 'answer') filter (where p.detail ? 'answer')
  into closed_ids, ended_holds, limited_keys, limited_amounts, limited_charges, answer_ids,
    answer_accounts, answers
  from priced p;
  if ended_holds <> cardinality(closed_ids) then
    raise exception '% holds ended with % records', ended_holds, cardinality(closed_ids);
  end if;

  if limited_keys is not null then
    perform ledger_spend(limited_keys, limited_amounts, limited_charges);
  end if;
  if answers is not null then
    perform ledger_answer(answer_ids, answer_accounts, answers);
  end if;
  if cardinality(closed_ids) = cardinality(ids) then
    return '{}';
  end if;
  return array(
    select v.word from (select o.id from unnest(ids) as o(id) except select unnest(closed_ids)) o
    left join (select id from hold where id = any (ids)) h on h.id = o.id
    cross join lateral (values (1, o.id),
      (2, case when h.id is null then 'unknown' else 'already' end)) as v(place, word)
    order by o.id, v.place);
end $$;
