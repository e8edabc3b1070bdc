-- revision 4

-- Budgets: windows, and the counters that move with holds. Every function that moves counters runs
-- under the lock of the account's balance, so nothing else moves those of the same account. Budgets
-- and counters are read by lists of ids, so that no plan reads those of other accounts.

-- The clock of budgets, which tests replace.
create or replace function budget_clock() returns timestamptz
language sql volatile as $$ select clock_timestamp() $$;

-- The first instant of a day: where clocks that are set back show midnight twice, the earlier one.
create or replace function budget_midnight(day date, zone text) returns timestamptz
language sql stable
as $$
  select case when (m.at - interval '1 hour') at time zone zone = day::timestamp
    then m.at - interval '1 hour' else m.at end
  from (select day::timestamp at time zone zone as at) m
$$;

-- The window of `at`: days and months of the zone's calendar, of 23 or 25 hours where it has them.
-- One that never ends begins with the budget.
create or replace function budget_window(
  period text, zone text, week_start smallint, created timestamptz, at timestamptz,
  out starts timestamptz, out ends timestamptz
)
language plpgsql stable
as $$
declare
  day date := (at at time zone zone)::date;
begin
  if period = 'total' then
    starts := created;
    return;
  end if;
  if period = 'month' then
    day := date_trunc('month', day::timestamp)::date;
  elsif period = 'week' then
    day := day - (extract(isodow from day)::integer - week_start + 7) % 7;
  end if;
  starts := budget_midnight(day, zone);
  ends := budget_midnight(case period when 'month' then (day + interval '1 month')::date
    when 'week' then day + 7 else day + 1 end, zone);
end $$;

-- What the calls of a key are matched by, from the most to the least particular.
create or replace function budget_names(of_account text, of_key text, labels jsonb)
returns text[]
language sql stable
as $$
  select coalesce((
    select array['key:' || coalesce(k.counter_key_id, k.id)]
      || case when k.created_by is not null then array['member:' || k.created_by] else '{}' end
      || array(select 'tag:' || t from unnest(k.tags) t)
      || array(select 'tag:' || t from unnest(k.required_tags) t
        where labels -> 'tags' ? t and not t = any (k.tags))
    from api_key k where k.id = of_key and k.account_id = of_account), '{}') || array['end_user', 'account']
$$;

-- Whether a unit of a price counts towards a unit of budgets.
create or replace function budget_counts(counted text, unit text) returns boolean
language sql immutable
as $$
  select case counted
    when 'input_token' then unit like '%input_token' or unit like 'cache\_write%token'
    when 'output_token' then unit like '%output_token'
    else false end
$$;

-- What a call may use of a budget, at its hold.
create or replace function budget_asked(counted text, nanos bigint, estimate jsonb) returns bigint
language plpgsql immutable
as $$
begin
  if counted = 'money' then
    return nanos;
  elsif counted = 'call' then
    return 1;
  end if;
  return (
    select coalesce(least(1e12, ceil(sum((e.value #>> '{}')::numeric))), 0)::bigint
    from jsonb_each(estimate) e
    where jsonb_typeof(e.value) = 'number' and budget_counts(counted, e.key));
end $$;

-- What a call used of a budget, from its record: nothing without a charge. A record without tokens
-- says nothing about them, so what was asked for counts.
create or replace function budget_used(counted text, charge bigint, asked bigint, lines jsonb)
returns bigint
language plpgsql immutable
as $$
begin
  if charge is null then
    return 0;
  elsif counted = 'money' then
    return charge;
  elsif counted = 'call' then
    return 1;
  end if;
  return coalesce((
    select coalesce(sum((l ->> 'quantity')::numeric)
      filter (where budget_counts(counted, l ->> 'unit')), 0)
    from jsonb_array_elements(case when jsonb_typeof(lines) = 'array' then lines else '[]' end) l
    having bool_or(l ->> 'unit' like '%token')), asked)::bigint;
end $$;

-- Records that a counter reached `percent` of its budget, once for each window.
create or replace function budget_alert(of_use bigint, percent integer) returns void
language plpgsql
as $$
declare
  mark text := 'budget:' || of_use || ':' || percent;
begin
  if exists (select from alert_event where once = mark) then
    return;
  end if;
  insert into alert_event (kind, account_id, once, subject)
  select 'budget_threshold', b.account_id, mark, jsonb_build_object('budget_id', b.id,
    'scope', b.scope, 'subject', b.subject,
    'end_user', case when u.subject like 'u:%' then substr(u.subject, 3) end, 'unit', b.unit,
    'amount', b.amount::text, 'spent', u.spent::text, 'threshold', percent, 'period', b.period,
    'window_start', u.window_start, 'resets_at', w.ends)
  from budget_use u
  join budget b on b.id = (select budget_id from budget_use where id = of_use)
  cross join lateral budget_window(b.period, b.time_zone, b.week_start, b.created_at,
    u.window_start) w
  where u.id = of_use
  on conflict (once) do nothing;
end $$;

-- Gives a hold's part of each counter back; null has none.
create or replace function budget_return(counters bigint[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
begin
  for place in 1 .. coalesce(cardinality(counters), 0) by 2 loop
    update budget_use set held = held - counters[place + 1] where id = counters[place];
  end loop;
end $$;

-- Counts one hold towards every budget that applies, or towards none: then `refusal` has the nearest
-- budget that it does not fit, and when that begins anew.
create or replace function budget_take(
  of_account text, of_key text, of_model text, nanos bigint, estimate jsonb,
  out counters bigint[], out refusal text
)
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  at timestamptz := budget_clock();
  names text[] := budget_names(of_account, of_key, estimate -> 'labels');
  rule record;
  asked bigint;
  counted text;
  use_id bigint;
  opened bigint[] := '{}';
begin
  for rule in
    select b.id, b.scope, b.unit, b.amount, b.action, b.end_users_max, w.starts, w.ends
    from budget b cross join lateral budget_window(b.period, b.time_zone, b.week_start,
      b.created_at, at) w
    where b.account_id = of_account and b.counted_under = any (names)
      and (b.models is null or of_model = any (b.models))
    order by array_position(names, b.counted_under), b.id
  loop
    asked := budget_asked(rule.unit, nanos, estimate);
    counted := case when rule.scope = 'end_user' then budget_end_user(estimate -> 'labels')
      else '' end;
    loop
      update budget_use u set held = u.held + asked
      where u.budget_id = rule.id and u.window_start = rule.starts and u.subject = counted
        and (u.held + u.spent + asked <= rule.amount or rule.action = 'warn')
      returning u.id into use_id;
      exit when found;
      select id into use_id from budget_use
      where budget_id = rule.id and window_start = rule.starts and subject = counted;
      if found then
        perform budget_return(counters);
        counters := null;
        -- Who has spent nothing yet has reached nothing, however much the call may cost.
        perform budget_alert(use_id, 100) from budget b
        where b.id = rule.id and b.account_id = of_account and 100 = any (b.thresholds) and not use_id = any (opened);
        if cardinality(opened) > 0 then
          perform budget_shut_users(opened);
        end if;
        refusal := rule.id || ' ' || coalesce(
          to_char(rule.ends at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), '');
        return;
      end if;
      if rule.scope = 'end_user' then
        counted := budget_open_user(rule.id, rule.starts, counted, rule.end_users_max);
      end if;
      insert into budget_use (budget_id, window_start, subject)
      values (rule.id, rule.starts, counted) on conflict do nothing returning id into use_id;
      if found and counted ~ '^[uh]:' then
        opened := opened || use_id;
      end if;
    end loop;
    counters := counters || array[use_id, asked];
  end loop;
end $$;

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
    select b.*, w.starts from budget b
    cross join lateral budget_window(b.period, b.time_zone, b.week_start, b.created_at, at) w
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

-- Closes a hold's part of its counters: gives it back, and counts what the call used.
create or replace function budget_close(counters bigint[], charge bigint, lines jsonb)
returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  moved record;
begin
  for place in 1 .. cardinality(counters) by 2 loop
    update budget_use u set held = u.held - counters[place + 1], spent = u.spent + x.used
    from (
      select b.amount, b.thresholds,
        budget_used(b.unit, charge, counters[place + 1], lines) as used
      from budget b
      where b.id = (select budget_id from budget_use where id = counters[place])) x
    where u.id = counters[place]
    returning x.*, u.spent into moved;
    if moved.used > 0 and cardinality(moved.thresholds) > 0 then
      perform budget_cross(counters[place], moved.spent - moved.used, moved.spent, moved.amount,
        moved.thresholds);
    end if;
  end loop;
end $$;

-- Records the highest threshold that a counter passed on its way from `before` to `after`.
create or replace function budget_cross(
  of_use bigint, before numeric, after numeric, amount bigint, thresholds smallint[]
) returns void
language plpgsql
as $$
declare
  passed integer := (
    select max(t) from unnest(thresholds) t
    where before * 100 < amount::numeric * t and after * 100 >= amount::numeric * t);
begin
  if passed is not null then
    perform budget_alert(of_use, passed);
  end if;
end $$;

-- Closes the parts of many holds at once; each of `pinned` is the text of a hold's counters.
create or replace function budget_close_all(pinned text[], charges bigint[], lines jsonb[])
returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  moved record;
begin
  if cardinality(pinned) <= 2 then
    for place in 1 .. cardinality(pinned) loop
      perform budget_close(pinned[place]::bigint[], charges[place], lines[place]);
    end loop;
    return;
  end if;
  for moved in
    with part as materialized (
      select o.charge, o.lines, o.counters[n] as use_id, o.counters[n + 1] as asked
      from (
        select p.charge, p.lines, p.counters::bigint[] as counters
        from unnest(pinned, charges, lines) as p(counters, charge, lines)) o
      cross join lateral generate_series(1, cardinality(o.counters), 2) n
    ), known as materialized (
      select u.id, b.unit, b.amount, b.thresholds
      from (
        select id, budget_id from budget_use where id = any (array(select use_id from part))) u
      join (
        select * from budget where id = any (array(
          select budget_id from budget_use where id = any (array(select use_id from part))))) b
        on b.id = u.budget_id
    ), used as materialized (
      select k.id, k.amount, k.thresholds, sum(p.asked) as freed,
        sum(case k.unit when 'money' then coalesce(p.charge, 0)
          when 'call' then (p.charge is not null)::integer
          else budget_used(k.unit, p.charge, p.asked, p.lines) end) as used
      from part p join known k on k.id = p.use_id group by k.id, k.amount, k.thresholds
    )
    update budget_use u set held = u.held - x.freed, spent = u.spent + x.used
    from used x where u.id = x.id and u.id = any (array(select use_id from part))
    returning x.id, x.used, x.amount, x.thresholds, u.spent
  loop
    if moved.used > 0 and cardinality(moved.thresholds) > 0 then
      perform budget_cross(moved.id, moved.spent - moved.used, moved.spent, moved.amount,
        moved.thresholds);
    end if;
  end loop;
end $$;

-- Moves the counters of a call from what its record said to what it says after a correction.
create or replace function budget_correct(
  counters bigint[], old_charge bigint, old_lines jsonb, new_charge bigint, new_lines jsonb
) returns void
language plpgsql
as $$
declare
  moved record;
begin
  for place in 1 .. coalesce(cardinality(counters), 0) by 2 loop
    update budget_use u set spent = u.spent + x.used
    from (
      select b.amount, b.thresholds,
        budget_used(b.unit, new_charge, counters[place + 1], new_lines)
          - budget_used(b.unit, old_charge, counters[place + 1], old_lines) as used
      from budget b
      where b.id = (select budget_id from budget_use where id = counters[place])) x
    where u.id = counters[place]
    returning x.*, u.spent into moved;
    if moved.used > 0 then
      perform budget_cross(counters[place], moved.spent - moved.used, moved.spent, moved.amount,
        moved.thresholds);
    end if;
  end loop;
end $$;
