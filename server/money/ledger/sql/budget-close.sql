-- revision 3

-- Closing the budgets' part of holds, under the lock of the account's balance. See budgets.sql.

-- Whether a counter passed any hundredth of its budget: most calls pass none, and so no threshold.
create or replace function budget_passed(before numeric, after numeric, amount bigint)
returns boolean
language sql immutable
as $$
  select div(after * 100, nullif(amount, 0)) > div(before * 100, nullif(amount, 0))
$$;

-- Closes a hold's part of its counters: gives it back, and counts what the call used. Only
-- ledger_close_one calls it, whose settings keep the plan from reading other budgets. Returns true,
-- because assigning a result costs less than a statement that has none.
create or replace function budget_close_one(counters bigint[], charge bigint, lines jsonb)
returns boolean
language plpgsql
as $$
declare
  moved record;
begin
  for place in 1 .. cardinality(counters) by 2 loop
    update budget_use u set held = u.held - counters[place + 1], spent = u.spent + x.used
    from (
      select b.id, b.amount, b.thresholds, case b.unit when 'money' then coalesce(charge, 0)
          when 'call' then (charge is not null)::integer
          else budget_used(b.unit, charge, counters[place + 1], lines) end as used
      from budget b) x
    where u.id = counters[place] and x.id = u.budget_id
    returning x.used, x.amount, x.thresholds, u.spent into moved;
    if budget_passed(moved.spent - moved.used, moved.spent, moved.amount) then
      perform budget_cross(counters[place], moved.spent - moved.used, moved.spent, moved.amount,
        moved.thresholds);
    end if;
  end loop;
  return true;
end $$;

-- Records the highest threshold that a counter passed on its way from `before` to `after`.
create or replace function budget_cross(
  of_use bigint, before numeric, after numeric, amount bigint, thresholds smallint[]
) returns void
language plpgsql
as $$
declare
  mark smallint;
  passed smallint;
begin
  -- A loop of expressions costs less than a query over so few.
  foreach mark in array thresholds loop
    if before * 100 < amount::numeric * mark and after * 100 >= amount::numeric * mark then
      passed := greatest(passed, mark);
    end if;
  end loop;
  if passed is not null then
    perform budget_alert(of_use, passed);
  end if;
end $$;

-- Closes the parts that `calls` calls with a charge, and others without, have of one counter: gives
-- `freed` back and counts the calls or what they were charged.
create or replace function budget_add(of_use bigint, freed numeric, calls bigint, charged numeric)
returns void
language plpgsql
as $$
declare
  moved record;
begin
  update budget_use u set held = u.held - freed, spent = u.spent + x.used
  from (
    select b.amount, b.thresholds, case b.unit when 'money' then charged else calls end as used
    from budget b where b.id = (select budget_id from budget_use where id = of_use)) x
  where u.id = of_use
  returning x.*, u.spent into moved;
  if budget_passed(moved.spent - moved.used, moved.spent, moved.amount) then
    perform budget_cross(of_use, moved.spent - moved.used, moved.spent, moved.amount,
      moved.thresholds);
  end if;
end $$;

-- Closes the parts of many holds at once; each of `pinned` is the text of a hold's counters. `lines`
-- may be null where no budget of the account counts tokens.
create or replace function budget_close_all(pinned text[], charges bigint[], lines jsonb[])
returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  parts record;
  moved record;
begin
  if lines is null then
    select array_agg(c.use_id) as use_ids, array_agg(c.freed) as freed, array_agg(c.calls) as calls,
      array_agg(c.charged) as charged
    into parts from (
      select o.counters[n] as use_id, sum(o.counters[n + 1]) as freed, count(o.charge) as calls,
        coalesce(sum(o.charge), 0) as charged
      from (
        select p.charge, p.counters::bigint[] as counters
        from unnest(pinned, charges) as p(counters, charge)) o
      cross join lateral generate_series(1, cardinality(o.counters), 2) n
      group by 1) c;
    -- Most batches have few counters, which cost less one by one than together.
    if cardinality(parts.use_ids) <= 8 then
      for place in 1 .. cardinality(parts.use_ids) loop
        perform budget_add(parts.use_ids[place], parts.freed[place], parts.calls[place],
          parts.charged[place]);
      end loop;
      return;
    end if;
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
    if budget_passed(moved.spent - moved.used, moved.spent, moved.amount) then
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
