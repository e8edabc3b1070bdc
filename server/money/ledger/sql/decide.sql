-- revision 1

-- The decision of the version before budgets, for a statement that runs while a gateway brings them.
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
