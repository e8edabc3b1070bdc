-- revision 8

-- Budgets: windows, and the counters that move with holds. Every function that moves counters runs
-- under the lock of the account's balance, so nothing else moves those of the same account. Budgets
-- and counters are read by lists of ids, so that no plan reads those of other accounts. Plans are those
-- of the functions that call these, which set how they are made.

-- The clock of budgets, which tests replace.
create or replace function budget_clock() returns timestamptz
language sql volatile as $$ select clock_timestamp() $$;

-- The first instant of a day: where clocks that are set back show midnight twice, the earlier one.
create or replace function budget_midnight(day date, zone text) returns timestamptz
language plpgsql stable
as $$
declare
  at timestamptz := day::timestamp at time zone zone;
begin
  if (at - interval '1 hour') at time zone zone = day::timestamp then
    return at - interval '1 hour';
  end if;
  return at;
end $$;

-- When the window of `at` begins: one that never ends begins with the budget.
create or replace function budget_start(
  period text, zone text, week_start smallint, created timestamptz, at timestamptz
) returns timestamptz
language plpgsql stable
as $$
declare
  day date := (at at time zone zone)::date;
begin
  if period = 'total' then
    return created;
  end if;
  return budget_midnight(case period when 'month' then date_trunc('month', day::timestamp)::date
    when 'week' then day - (extract(isodow from day)::integer - week_start + 7) % 7
    else day end, zone);
end $$;

-- The window of `at`: days and months of the zone's calendar, of 23 or 25 hours where it has them.
create or replace function budget_window(
  period text, zone text, week_start smallint, created timestamptz, at timestamptz,
  out starts timestamptz, out ends timestamptz
)
language plpgsql stable
as $$
declare
  day date;
begin
  starts := budget_start(period, zone, week_start, created, at);
  if period <> 'total' then
    day := (starts at time zone zone)::date;
    ends := budget_midnight(case period when 'month' then (day + interval '1 month')::date
      when 'week' then day + 7 else day + 1 end, zone);
  end if;
end $$;

-- What calls of a key with tags are matched by: tags that it always has, and required ones that a
-- call states.
create or replace function budget_tags(tags text[], required text[], labels jsonb) returns text[]
language sql immutable
as $$
  select array(select 'tag:' || t from unnest(tags) t)
    || array(select 'tag:' || t from unnest(required) t
      where labels -> 'tags' ? t and not t = any (tags))
$$;

-- What the calls of a key are matched by, from the most to the least particular.
create or replace function budget_names(of_account text, of_key text, labels jsonb)
returns text[]
language sql stable
as $$
  select coalesce((
    select array['key:' || coalesce(k.counter_key_id, k.id)]
      || case when k.created_by is not null then array['member:' || k.created_by] else '{}' end
      || case when k.tags <> '{}' or k.required_tags <> '{}'
        then budget_tags(k.tags, k.required_tags, labels) else '{}' end
    from api_key k where k.id = of_key and k.account_id = of_account), '{}')
    || array['end_user', 'account']
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
    -- Least ignores null: an estimate without tokens asks for none.
    select least(1e12, coalesce(ceil(sum((e.value #>> '{}')::numeric)), 0))::bigint
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
as $$
declare
  at timestamptz := budget_clock();
  names text[] := budget_names(of_account, of_key, estimate -> 'labels');
  rule record;
  counted text;
  use_id bigint;
  opened bigint[] := '{}';
begin
  for rule in
    select b.id, b.scope, b.amount, b.action, b.end_users_max,
      case b.unit when 'money' then nanos when 'call' then 1
        else budget_asked(b.unit, nanos, estimate) end as asked,
      budget_start(b.period, b.time_zone, b.week_start, b.created_at, at) as starts
    from budget b
    where b.account_id = of_account and b.counted_under = any (names)
      and (b.models is null or of_model = any (b.models))
    order by array_position(names, b.counted_under), b.id
  loop
    counted := case when rule.scope = 'end_user' then budget_end_user(estimate -> 'labels')
      else '' end;
    loop
      update budget_use u set held = u.held + rule.asked
      where u.budget_id = rule.id and u.window_start = rule.starts and u.subject = counted
        and (u.held + u.spent + rule.asked <= rule.amount or rule.action = 'warn')
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
        refusal := rule.id || ' ' || coalesce((
          select to_char(w.ends at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
          from budget b cross join lateral budget_window(b.period, b.time_zone, b.week_start,
            b.created_at, at) w
          where b.id = rule.id and b.account_id = of_account), '');
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
    counters := counters || array[use_id, rule.asked];
  end loop;
end $$;

-- Counts holds towards the only budget of their account by one update, if that counts whatever the
-- key and they fit: `use_id` is null otherwise, and nothing has moved. `asked` is what all of them ask
-- for, in `counted`. Without a model or an estimate, which only one hold has, a budget that needs it
-- is left alone.
create or replace function budget_take_sum(
  of_account text, of_model text, nanos bigint, calls bigint, estimate jsonb,
  out use_id bigint, out asked bigint, out counted text
)
language plpgsql
as $$
declare
  rule record;
  starts timestamptz;
begin
  -- Two statements cost less than one that joins, and expressions less than functions.
  select b.id, b.unit, b.amount, b.action, b.period, b.time_zone, b.week_start, b.created_at
  into rule from budget b
  where b.account_id = of_account and b.counted_under = 'account'
    and (b.models is null or of_model = any (b.models));
  if not found then
    return;
  end if;
  counted := rule.unit;
  if counted = 'money' then
    asked := nanos;
  elsif counted = 'call' then
    asked := calls;
  elsif estimate is null then
    return;
  else
    asked := budget_asked(counted, nanos, estimate);
  end if;
  if rule.period = 'total' then
    starts := rule.created_at;
  elsif rule.period = 'week' and rule.week_start <> 1 then
    starts := budget_start(rule.period, rule.time_zone, rule.week_start, rule.created_at,
      budget_clock());
  else
    -- As budget_start, but for a midnight that clocks show twice: then there is no such window here.
    starts := date_trunc(rule.period, budget_clock(), rule.time_zone);
  end if;
  update budget_use u set held = u.held + asked
  where u.budget_id = rule.id and u.window_start = starts and u.subject = ''
    and (u.held + u.spent + asked <= rule.amount or rule.action = 'warn')
  returning u.id into use_id;
end $$;
