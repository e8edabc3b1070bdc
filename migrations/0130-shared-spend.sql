-- A key and those it was rotated from and to have one spend limit and one counter, kept in key_spend
-- under the first of them. Before, a rotation copied what had been spent, and the two counted apart.
--
-- The ledger's functions go on naming keys; `ledger_decide` and `ledger_spend` find the counter.
-- Whatever moves key_spend for a key goes through them.
alter table api_key
  -- The first key of the rotations that led to this one; null for a key that replaced none.
  add column counter_key_id text references api_key;
create index api_key_by_counter on api_key (counter_key_id) where counter_key_id is not null;

-- A rotation joins the new key to the counter of the old one, whichever version of the gateway
-- does it. Earlier ones have copied the counter in the same transaction.
create function join_counter() returns trigger language plpgsql as $$
begin
  update api_key set counter_key_id = coalesce(new.counter_key_id, new.id)
  where id = new.replaced_by and counter_key_id is null;
  delete from key_spend where key_id = new.replaced_by;
  return null;
end $$;

with recursive rotation as (
  select k.id as first_id, k.replaced_by as id from api_key k
  where k.replaced_by is not null
    and not exists (select from api_key before where before.replaced_by = k.id)
  union
  select r.first_id, k.replaced_by from rotation r join api_key k on k.id = r.id
  where k.replaced_by is not null
)
update api_key k set counter_key_id = r.first_id from rotation r where k.id = r.id;

-- The limit of the newest key is the one that was meant.
update api_key k set spend_limit = newest.spend_limit
from api_key newest
where newest.counter_key_id is not null and newest.replaced_by is null
  and (k.id = newest.counter_key_id or k.counter_key_id = newest.counter_key_id)
  and k.spend_limit is distinct from newest.spend_limit;

-- What was counted apart is counted anew: every charge and every open hold, under the balances'
-- locks, so that no move of the ledger falls between.
do $$
declare
  counted record;
begin
  perform 1 from balance where account_id in (
    select account_id from api_key where counter_key_id is not null)
  order by account_id for update;
  for counted in
    select k.counter_key_id as first_id, k.account_id, array_agg(k.id) || k.counter_key_id as ids
    from api_key k where k.counter_key_id is not null
    group by k.counter_key_id, k.account_id
  loop
    continue when not exists (select from key_spend where key_id = any (counted.ids));
    delete from key_spend where key_id = any (counted.ids);
    insert into key_spend (key_id, held, spent)
    select counted.first_id,
      coalesce((select sum(amount) from hold where account_id = counted.account_id
        and key_id = any (counted.ids) and state = 'open'), 0),
      coalesce((select sum(charged) from call where account_id = counted.account_id
        and key_id = any (counted.ids)), 0);
    update hold set spend_limited = true where account_id = counted.account_id
      and key_id = any (counted.ids) and state = 'open' and not spend_limited;
  end loop;
end $$;

create trigger api_key_joins_counter after update of replaced_by on api_key
  for each row when (new.replaced_by is not null and new.replaced_by is distinct from old.replaced_by)
  execute function join_counter();

-- For each of `key_ids` the key under which its spend is counted.
create function ledger_counters(key_ids text[]) returns text[]
language sql stable
set enable_seqscan = off
set enable_nestloop = off
as $$
  select array_agg(coalesce(k.counter_key_id, o.id) order by o.place)
  from unnest(key_ids) with ordinality as o(id, place)
  left join (select id, counter_key_id from api_key where id = any (key_ids)) k on k.id = o.id
$$;

-- The limits of `key_ids` as they are now, where one was given: a gateway may have read another.
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

alter function ledger_decide(text[], text[], text[], text[], bigint[], bigint[], text[], text[],
  text[]) rename to ledger_decide_by_counter;

-- As before, with the counters and the limits of the keys.
create function ledger_decide(
  ids text[], request_ids text[], account_ids text[], key_ids text[], amounts bigint[],
  spend_limits bigint[], idempotency_keys text[], routes text[], fingerprints text[],
  out accepted text[], out refused text[]
)
language plpgsql as $$
begin
  if spend_limits is not null then
    spend_limits := ledger_limits(key_ids, spend_limits);
    key_ids := ledger_counters(key_ids);
  end if;
  select d.accepted, d.refused into accepted, refused
  from ledger_decide_by_counter(ids, request_ids, account_ids, key_ids, amounts, spend_limits,
    idempotency_keys, routes, fingerprints) d;
end $$;

alter function ledger_spend(text[], bigint[], bigint[]) rename to ledger_spend_by_counter;

-- What keys with a limit have used, once the holds are closed.
create function ledger_spend(key_ids text[], amounts bigint[], charges bigint[]) returns void
language sql as $$
  select ledger_spend_by_counter(ledger_counters(key_ids), amounts, charges)
$$;
