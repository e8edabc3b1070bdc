-- revision 1

-- Budgets that each end user has: one counter for each name, under the lock of the account's balance.

-- The counter of an end user: long names are counted under their hash.
create or replace function budget_end_user(labels jsonb) returns text
language sql immutable
as $$
  select case when labels ->> 'end_user' is null then ''
    when octet_length(labels ->> 'end_user') <= 256 then 'u:' || (labels ->> 'end_user')
    else 'h:' || encode(sha256(convert_to(labels ->> 'end_user', 'UTF8')), 'hex') end
$$;

-- Opens the counter of an end user without one: its own, or the shared one once `most` have theirs.
create or replace function budget_open_user(
  of_budget text, starts timestamptz, of_subject text, most integer
) returns text
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
begin
  insert into budget_use (budget_id, window_start, subject) values (of_budget, starts, '*')
  on conflict do nothing;
  if of_subject = '' then
    return of_subject;
  end if;
  update budget_use set subjects = subjects + 1
  where budget_id = of_budget and window_start = starts and subject = '*' and subjects < most;
  return case when found then of_subject else '*' end;
end $$;

-- Takes back counters of end users that a refused call has opened: names that cost nothing must not
-- use up those that a budget counts apart.
create or replace function budget_shut_users(opened bigint[]) returns void
language sql
set plan_cache_mode = force_generic_plan
as $$
  with gone as (
    delete from budget_use where id = any (opened) and held = 0 and spent = 0
    returning budget_id, window_start)
  update budget_use u set subjects = u.subjects - 1
  from gone g
  where u.budget_id = g.budget_id and u.window_start = g.window_start and u.subject = '*'
$$;
