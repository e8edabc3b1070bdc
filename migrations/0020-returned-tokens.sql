-- What a call did not use is returned to what it counted: a call that took longer than the window
-- returned it to what others had counted, and one whose statement had waited for its account lost
-- a part of it.

-- Returns `unused` tokens of a call that counted at `taken_ms` or, having waited for the lock of its
-- account, somewhat later; negative if it used more. Nothing once its own entry has left the window.
create function rate_return(counted text, unused bigint, taken_ms bigint) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  w rate_window%rowtype;
  remaining bigint := unused;
  part bigint;
begin
  if taken_ms <= extract(epoch from clock_timestamp()) * 1000 - 60000 then
    return;
  end if;
  select * into w from rate_window where subject = counted for update;
  for place in 1 .. coalesce(cardinality(w.times), 0) loop
    exit when remaining = 0;
    continue when w.times[place] < taken_ms;
    part := least(remaining, w.tokens[place]);
    w.tokens[place] := w.tokens[place] - part;
    remaining := remaining - part;
  end loop;
  update rate_window set tokens = w.tokens where subject = counted and remaining <> unused;
end $$;

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
  join hold h on h.id = r ->> 'id'
  cross join lateral jsonb_array_elements_text(r -> 'names') as n(name)
  where not h.id = any (not_closed);
  return not_closed;
end $$;
