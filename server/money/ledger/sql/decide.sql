-- revision 3

-- Signatures of versions before, for a statement that runs while a gateway brings newer functions.

-- The accounts of keys.
create or replace function ledger_key_accounts(key_ids text[]) returns text[]
language sql stable
as $$ select array(select distinct account_id from api_key where id = any (key_ids)) $$;

-- Calls of accounts with budgets are decided by ledger_judge.
create or replace function ledger_decide(
  ids text[], request_ids text[], account_ids text[], key_ids text[], amounts bigint[],
  spend_limits bigint[], idempotency_keys text[], routes text[], fingerprints text[],
  out accepted text[], out refused text[]
)
language plpgsql
as $$
begin
  select d.accepted, d.refused into accepted, refused
  from ledger_judge(ids, request_ids, account_ids, key_ids,
    array_fill(''::text, array[cardinality(ids)]), amounts, '[]', spend_limits, idempotency_keys,
    routes, fingerprints) d;
end $$;

create or replace function ledger_counters(key_ids text[]) returns text[]
language plpgsql stable
as $$
begin
  return ledger_counters(ledger_key_accounts(key_ids), key_ids);
end $$;

create or replace function ledger_limits(key_ids text[], spend_limits bigint[]) returns bigint[]
language plpgsql stable
as $$
begin
  return ledger_limits(ledger_key_accounts(key_ids), key_ids, spend_limits);
end $$;

create or replace function ledger_spend(key_ids text[], amounts bigint[], charges bigint[])
returns void
language plpgsql
as $$
begin
  perform ledger_spend(ledger_key_accounts(key_ids), key_ids, amounts, charges);
end $$;

create or replace function rate_decide(ids text[], limits jsonb, now_ms bigint) returns integer[]
language plpgsql
as $$
begin
  return rate_decide(ids, array(select account_id from balance), limits, now_ms);
end $$;

create or replace function budget_names(of_key text, labels jsonb) returns text[]
language plpgsql stable
as $$
begin
  return budget_names((ledger_key_accounts(array[of_key]))[1], of_key, labels);
end $$;

create or replace function budget_take_only(
  of_account text, of_model text, nanos bigint, estimate jsonb, out counters bigint[]
)
language plpgsql
as $$
declare
  counted record := budget_take_sum(of_account, of_model, nanos, 1, estimate);
begin
  if counted.use_id is not null then
    counters := array[counted.use_id, counted.asked];
  end if;
end $$;

create or replace function budget_close(counters bigint[], charge bigint, lines jsonb)
returns void
language plpgsql
as $$
begin
  perform budget_close_one(counters, charge, lines);
end $$;
