-- A batch of holds carries its deadline: what reaches the ledger later, or gets its locks later, is
-- refused, because its callers have been told to come back and nobody would ever close it. The time
-- is read once the balances are locked: a release that runs after the deadline under the same lock
-- therefore has the last word. And nobody waits long for a balance that somebody else has locked.
-- As in 0086, with `deadline`: null is none. Returns `late` for every one of `ids` after it.
drop function ledger_take(text[], text[], text[], text[], text[], text[], text[], text[], bigint[],
  bigint[], jsonb, bigint[], text[], text[], text[]);
create function ledger_take(
  ids text[], request_ids text[], account_ids text[], key_ids text[], owner_ids text[],
  task_ids text[], endpoints text[], models text[], price_versions bigint[], amounts bigint[],
  estimates jsonb, spend_limits bigint[], idempotency_keys text[], routes text[],
  fingerprints text[], deadline timestamptz default null
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
        from unnest(account_ids, amounts) as o(account_id, amount) group by 1) asked
      left join unnest(known, available, debts) as b(account_id, available, debt)
        on b.account_id = asked.account_id
      where b.account_id is null or b.available < asked.total or (b.debt > 0 and asked.total > 0));
  if not is_plain then
    select d.accepted, d.refused into accepted, refused
    from ledger_decide(ids, request_ids, account_ids, key_ids, amounts, spend_limits,
      idempotency_keys, routes, fingerprints) d;
  end if;

  with given as materialized (
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
    select g.id, g.request_id, g.account_id, g.key_id, g.owner_id, g.task_id, g.endpoint, g.model,
      g.price_version, g.amount, g.estimate, g.spend_limit is not null
    from given g
  ), moved as (
    update balance b set available = b.available - asked.total, held = b.held + asked.total
    from (select g.account_id, sum(g.amount) as total from given g group by 1) asked
    where b.account_id = asked.account_id and b.account_id = any (account_ids)
      and asked.total > 0
  )
  insert into entry (posting, step, account_id, currency, source, destination, amount)
  select g.id, 'hold', g.account_id, b.currency, 'available', 'held', g.amount
  from given g join unnest(known, currencies) as b(account_id, currency)
    on b.account_id = g.account_id
  where g.amount > 0;
  return refused;
end $$;

alter function ledger_close(text[], text[], bigint[], text[], text[], boolean[], bigint[],
  bigint[], text[], text[], jsonb, text[]) set lock_timeout = '300ms';
