-- revision 1

-- Counting batches of holds towards budgets, under the lock of the account's balance. See budgets.sql.

-- Counts holds of one account as budget_take does, if all of them fit and all counters are there:
-- `is_done` is false otherwise, and nothing has moved. `pins` has the counters by hold.
create or replace function budget_take_all(
  of_account text, ids text[], key_ids text[], models text[], amounts bigint[], estimates jsonb,
  out is_done boolean, out pins jsonb
)
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  names text[];
begin
  if not exists (
    select from budget b
    where b.account_id = of_account and (b.counted_under <> 'account' or b.models is not null)) then
    names := array['account'];
  elsif key_ids[1] = all (key_ids) and not estimates @? '$[*].labels.tags[*]' then
    names := budget_names(of_account, key_ids[1], null);
    if exists (
      select from budget b
      where b.account_id = of_account and b.counted_under = any (names)
        and (b.counted_under = 'end_user' or b.models is not null)) then
      names := null;
    end if;
  end if;
  if names is null then
    select t.is_done, t.pins into is_done, pins
    from budget_take_each(of_account, ids, key_ids, models, amounts, estimates) t;
  else
    select t.is_done, t.pins into is_done, pins
    from budget_take_alike(of_account, names, ids, amounts, estimates) t;
  end if;
end $$;

-- Counts holds that all count towards each budget of `names`, in one counter each.
create or replace function budget_take_alike(
  of_account text, names text[], ids text[], amounts bigint[], estimates jsonb,
  out is_done boolean, out pins jsonb
)
language plpgsql
as $$
declare
  at timestamptz := budget_clock();
  rule record;
  asked bigint[];
  total numeric;
  use_id bigint;
  moved bigint[];
  texts text[] := array_fill(''::text, array[cardinality(ids)]);
begin
  for rule in
    select b.id, b.unit, b.amount, b.action,
      budget_start(b.period, b.time_zone, b.week_start, b.created_at, at) as starts
    from budget b where b.account_id = of_account and b.counted_under = any (names)
  loop
    asked := case rule.unit when 'money' then amounts
      when 'call' then array_fill(1::bigint, array[cardinality(ids)])
      else array(
        select budget_asked(rule.unit, 0, e.estimate)
        from jsonb_array_elements(estimates) with ordinality as e(estimate, place)
        order by e.place) end;
    total := (select sum(a) from unnest(asked) a);
    update budget_use u set held = u.held + total
    where u.budget_id = rule.id and u.window_start = rule.starts and u.subject = ''
      and (u.held + u.spent + total <= rule.amount or rule.action = 'warn')
    returning u.id into use_id;
    if not found then
      perform budget_return(moved);
      is_done := false;
      return;
    end if;
    moved := moved || array[use_id, total::bigint];
    texts := array(
      select t.text || ',' || use_id || ',' || t.asked
      from unnest(texts, asked) with ordinality as t(text, asked, place) order by t.place);
  end loop;
  is_done := true;
  if moved is not null then
    pins := jsonb_object(ids, array(
      select '{' || substr(t.text, 2) || '}'
      from unnest(texts) with ordinality as t(text, place) order by t.place));
  end if;
end $$;

-- Counts holds of one account whichever budgets each of them counts towards.
create or replace function budget_take_each(
  of_account text, ids text[], key_ids text[], models text[], amounts bigint[], estimates jsonb,
  out is_done boolean, out pins jsonb
)
language plpgsql
as $$
declare
  at timestamptz := budget_clock();
begin
  with operation as materialized (
    select o.*, o.estimate -> 'labels' -> 'tags' as tags
    from rows from (unnest(ids, key_ids, models, amounts), jsonb_array_elements(estimates))
      as o(id, key_id, model, amount, estimate)
  ), called as materialized (
    -- The calls of a batch are those of few keys, most with the same tags.
    select c.key_id, c.tags,
      budget_names(of_account, c.key_id,
        jsonb_build_object('tags', coalesce(c.tags, '[]'))) as names
    from (select distinct key_id, tags from operation) c
  ), rule as materialized (
    select b.*, budget_start(b.period, b.time_zone, b.week_start, b.created_at, at) as starts
    from budget b
    where b.account_id = of_account and b.counted_under = any (array(
      select distinct n from called c cross join lateral unnest(c.names) n))
  ), asked as materialized (
    select o.id, r.id as budget_id, r.starts, r.amount, r.action,
      case when r.scope = 'end_user' then budget_end_user(o.estimate -> 'labels') else '' end
        as subject,
      case r.unit when 'money' then o.amount when 'call' then 1
        else budget_asked(r.unit, o.amount, o.estimate) end as asked
    from operation o
    join called c on c.key_id = o.key_id and c.tags is not distinct from o.tags
    join rule r on r.counted_under = any (c.names)
      and (r.models is null or o.model = any (r.models))
  ), summed as materialized (
    select a.budget_id, a.subject, u.id as use_id, sum(a.asked) as total,
      u.id is not null and (a.action = 'warn'
        or u.held + u.spent + sum(a.asked) <= a.amount) as fits
    from asked a left join lateral (
      -- One row by its key: the limit keeps the planner from joining the whole table.
      select * from budget_use
      where budget_id = a.budget_id and window_start = a.starts and subject = a.subject
      limit 1) u on true
    group by a.budget_id, a.subject, a.amount, a.action, u.id, u.held, u.spent
  ), verdict as materialized (
    select coalesce(bool_and(fits), true) as fits from summed
  ), moved as (
    update budget_use u set held = u.held + s.total
    from summed s
    where u.id = s.use_id and u.id = any (array(select use_id from summed))
      and (select fits from verdict)
  )
  select v.fits, (
    select jsonb_object_agg(p.id, p.counters) from (
      select a.id, '{' || string_agg(s.use_id || ',' || a.asked, ',') || '}' as counters
      from asked a join summed s on s.budget_id = a.budget_id and s.subject = a.subject
      group by a.id) p)
  into is_done, pins from verdict v;
end $$;
