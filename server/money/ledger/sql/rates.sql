-- revision 5

-- A window is the last minute. An entry that lies over a minute ahead was written before the clock was
-- set back, and counts no more: it would refuse calls until that time comes.

-- The seconds until `requests` and `tokens` of the oldest entries have left the window.
create or replace function rate_wait(
  waiting text, requests_over bigint, tokens_over bigint, now_ms bigint
) returns integer
language sql stable
as $$
  select greatest(1, ceil((min(e.at) + 60000 - now_ms) / 1000.0))::integer
  from (
    select u.at, sum(u.requests) over (order by u.place) as requests,
      sum(u.tokens) over (order by u.place) as tokens
    from rate_window w, unnest(w.times, w.requests, w.tokens) with ordinality
      as u(at, requests, tokens, place)
    where w.subject = waiting and u.at between now_ms - 59999 and now_ms + 60000) e
  where e.requests >= requests_over and e.tokens >= tokens_over
$$;

-- Decides about calls one after the other. `limits` has one element for each of `ids`: null, or
-- {"tokens": n, "subjects": [{"name", "requests"?, "tokens"?, "calls"?}]}. Returns for each the
-- seconds to wait, 0 for a call within its limits, or -1 for one that uses more tokens than a limit
-- allows in a minute. A hold that exists already has been counted.
create or replace function rate_decide(
  ids text[], account_ids text[], limits jsonb, now_ms bigint
) returns integer[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  names text[];
  requests bigint[];
  tokens bigint[];
  running bigint[];
  existing text[] := array(
    select id from hold where id = any (ids) and account_id = any (account_ids));
  waits integer[] := '{}';
  wait integer;
  place integer;
  operation record;
  rule jsonb;
begin
  names := array(
    select distinct s ->> 'name' from jsonb_array_elements(limits) o,
      jsonb_array_elements(case when jsonb_typeof(o) = 'object' then o -> 'subjects' end) s);
  delete from call_slot s where s.subject = any (names)
    and not exists (select from hold h
      where h.id = s.hold_id and h.account_id = any (account_ids) and h.state = 'open');
  select array_agg(coalesce(w.requests, 0) order by n.place),
    array_agg(coalesce(w.tokens, 0) order by n.place),
    array_agg((select count(*) from call_slot s where s.subject = n.name) order by n.place)
  into requests, tokens, running
  from unnest(names) with ordinality as n(name, place)
  left join lateral (
    select sum(u.requests)::bigint as requests, sum(u.tokens)::bigint as tokens
    from rate_window r, unnest(r.times, r.requests, r.tokens) as u(at, requests, tokens)
    where r.subject = n.name and u.at between now_ms - 59999 and now_ms + 60000) w on true;

  for operation in
    select i.id, o.value as rules, i.position
    from unnest(ids) with ordinality as i(id, position)
    join jsonb_array_elements(limits) with ordinality as o(value, position)
      on o.position = i.position
    order by i.position
  loop
    wait := 0;
    if jsonb_typeof(operation.rules) = 'object' and not operation.id = any (existing) then
      for rule in select value from jsonb_array_elements(operation.rules -> 'subjects') loop
        place := array_position(names, rule ->> 'name');
        if (operation.rules ->> 'tokens')::bigint > (rule ->> 'tokens')::bigint then
          wait := -1;
          exit;
        end if;
        if requests[place] + 1 > (rule ->> 'requests')::bigint then
          wait := greatest(wait, rate_wait(names[place],
            requests[place] + 1 - (rule ->> 'requests')::bigint, 0, now_ms), 1);
        end if;
        if tokens[place] + (operation.rules ->> 'tokens')::bigint > (rule ->> 'tokens')::bigint then
          wait := greatest(wait, rate_wait(names[place], 0, tokens[place]
            + (operation.rules ->> 'tokens')::bigint - (rule ->> 'tokens')::bigint, now_ms), 1);
        end if;
        if running[place] + 1 > (rule ->> 'calls')::bigint then
          wait := greatest(wait, 1);
        end if;
      end loop;
      if wait = 0 then
        for rule in select value from jsonb_array_elements(operation.rules -> 'subjects') loop
          place := array_position(names, rule ->> 'name');
          requests[place] := requests[place] + 1;
          tokens[place] := tokens[place] + (operation.rules ->> 'tokens')::bigint;
          running[place] := running[place] + case when rule ? 'calls' then 1 else 0 end;
        end loop;
      end if;
    end if;
    waits := waits || wait;
  end loop;
  return waits;
end $$;

-- Adds an entry to the window of `counted`. Entries within `width` milliseconds are merged under the
-- newest time, so no minute ever has more than the limit, and a window has few entries.
create or replace function rate_count(
  counted text, more_requests bigint, more_tokens bigint, width bigint, now_ms bigint
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  w rate_window%rowtype;
  first integer;
  last integer;
begin
  select * into w from rate_window where subject = counted for update;
  if not found then
    insert into rate_window (subject, times, requests, tokens)
    values (counted, array[now_ms], array[more_requests], array[more_tokens]);
    return;
  end if;
  last := cardinality(w.times);
  if w.times[1] > now_ms or w.times[last] > now_ms then
    -- The clock was set back: what is outside of the window stands anywhere.
    select array_agg(u.at order by u.place), array_agg(u.requests order by u.place),
      array_agg(u.tokens order by u.place)
    into w.times, w.requests, w.tokens
    from unnest(w.times, w.requests, w.tokens) with ordinality as u(at, requests, tokens, place)
    where u.at between now_ms - 59999 and now_ms + 60000;
  else
    first := 1;
    while w.times[first] < now_ms - 59999 loop
      first := first + 1;
    end loop;
    w.times := w.times[first:];
    w.requests := w.requests[first:];
    w.tokens := w.tokens[first:];
  end if;
  last := cardinality(w.times);
  if last > 0 and w.times[last] / width = now_ms / width then
    w.times[last] := now_ms;
    w.requests[last] := w.requests[last] + more_requests;
    w.tokens[last] := w.tokens[last] + more_tokens;
  else
    w.times := w.times || now_ms;
    w.requests := w.requests || more_requests;
    w.tokens := w.tokens || more_tokens;
  end if;
  update rate_window
  set times = w.times, requests = w.requests, tokens = w.tokens, updated_at = now()
  where subject = counted;
end $$;

-- Counts those operations of `limits` (as in rate_decide) whose id is in `counted`.
create or replace function rate_count_all(ids text[], limits jsonb, counted text[], now_ms bigint)
returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  used record;
begin
  for used in
    select s ->> 'name' as name, count(*) as requests, sum((o.value ->> 'tokens')::bigint) as tokens,
      -- Of small limits each request has its own entry.
      case when min((s ->> 'requests')::bigint) <= 120 then 1 else 500 end as width
    from unnest(ids) with ordinality as i(id, position)
    join jsonb_array_elements(limits) with ordinality as o(value, position)
      on o.position = i.position and jsonb_typeof(o.value) = 'object'
    cross join lateral jsonb_array_elements(o.value -> 'subjects') s
    where i.id = any (counted) and (s ? 'requests' or s ? 'tokens')
    group by 1 order by 1
  loop
    perform rate_count(used.name, used.requests, used.tokens::bigint, used.width, now_ms);
  end loop;
end $$;

-- What is left of the rates of those `limits` (as in rate_decide) that have "tell": pairs of `left `
-- with the id, and a JSON array of requests and tokens. Each is null where no subject limits it, or
-- [limit, remaining, milliseconds until all of it is free again] of the subject with the least.
create or replace function rate_left(ids text[], limits jsonb) returns text[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  now_ms bigint := extract(epoch from clock_timestamp()) * 1000;
begin
  return array(
    with rule as materialized (
      select i.id, s ->> 'name' as name, (s ->> 'requests')::bigint as requests,
        (s ->> 'tokens')::bigint as tokens
      from unnest(ids) with ordinality as i(id, position)
      join jsonb_array_elements(limits) with ordinality as o(value, position)
        on o.position = i.position and jsonb_typeof(o.value) = 'object' and o.value ? 'tell'
      cross join lateral jsonb_array_elements(o.value -> 'subjects') s
    ), used as materialized (
      select w.subject, sum(u.requests) as requests, sum(u.tokens) as tokens,
        max(u.at) filter (where u.requests > 0) as request_at,
        max(u.at) filter (where u.tokens > 0) as token_at
      from rate_window w, unnest(w.times, w.requests, w.tokens) as u(at, requests, tokens)
      where w.subject = any (array(select distinct r.name from rule r))
        and u.at between now_ms - 59999 and now_ms + 60000
      group by 1
    ), state as materialized (
      select r.id, v.kind, v.most, greatest(v.most - coalesce(v.used, 0), 0) as remaining,
        greatest(coalesce(v.last + 60000 - now_ms, 0), 0) as reset_ms
      from rule r
      left join used u on u.subject = r.name
      cross join lateral (values (1, r.requests, u.requests, u.request_at),
        (2, r.tokens, u.tokens, u.token_at)) as v(kind, most, used, last)
      where v.most is not null
    ), nearest as materialized (
      select distinct on (s.id, s.kind) s.id, s.kind,
        jsonb_build_array(s.most, s.remaining, s.reset_ms) as figures
      from state s order by s.id, s.kind, s.remaining, s.reset_ms desc
    ), stated as materialized (
      select n.id, jsonb_build_array((array_agg(n.figures) filter (where n.kind = 1))[1],
        (array_agg(n.figures) filter (where n.kind = 2))[1])::text as stated
      from nearest n group by 1
    )
    select v.word from stated t
    cross join lateral (values (1, 'left ' || t.id), (2, t.stated)) as v(place, word)
    order by t.id, v.place);
end $$;

-- Counts what takes no hold of its own: requests that cost nothing, and a running call that another
-- model serves, whose slot is its hold's. `ids` are no ids of holds; `limits` as in rate_decide.
-- Returns the seconds to wait for each.
create or replace function rate_take(
  ids text[], account_ids text[], hold_ids text[], limits jsonb
) returns integer[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set lock_timeout = '300ms'
as $$
declare
  now_ms bigint;
  waits integer[];
begin
  perform 1 from balance where account_id = any (account_ids) order by account_id for update;
  now_ms := extract(epoch from clock_timestamp()) * 1000;
  waits := rate_decide(ids, account_ids, limits, now_ms);
  perform rate_count_all(ids, limits,
    array(select o.id from unnest(ids, waits) as o(id, wait) where o.wait = 0), now_ms);
  insert into call_slot (subject, hold_id)
  select s ->> 'name', o.hold_id
  from rows from (unnest(hold_ids, waits), jsonb_array_elements(limits)) as o(hold_id, wait, rules)
  cross join lateral jsonb_array_elements(o.rules -> 'subjects') s
  where o.wait = 0 and o.hold_id is not null and s ? 'calls'
  on conflict do nothing;
  return waits;
end $$;

-- Returns `unused` tokens of a call that counted at `taken_ms` or, having waited for the lock of its
-- account, somewhat later; negative if it used more. Nothing once its own entry has left the window.
create or replace function rate_return(counted text, unused bigint, taken_ms bigint) returns void
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

-- Calls that run when a limit of concurrent calls is set count towards it. They have no slots: slots
-- are written with the holds of calls that have such a limit.
create or replace function count_running_calls() returns trigger
language plpgsql
set enable_seqscan = off
as $$
declare
  first text;
begin
  if tg_table_name = 'account' then
    insert into call_slot (subject, hold_id)
    select 'account:' || h.account_id, h.id
    from hold h where h.state = 'open' and h.task_id is null and h.account_id = new.id
    on conflict do nothing;
  elsif tg_table_name = 'api_key' then
    first := coalesce(new.counter_key_id, new.id);
    insert into call_slot (subject, hold_id)
    select 'key:' || first, h.id
    from hold h
    join api_key k on k.id = h.key_id and k.account_id = h.account_id
      and (k.id = first or k.counter_key_id = first)
    where h.state = 'open' and h.task_id is null and h.account_id = new.account_id
    on conflict do nothing;
  else
    insert into call_slot (subject, hold_id)
    select 'model:' || h.account_id || ':' || h.model, h.id
    from hold h where h.state = 'open' and h.task_id is null and h.model = new.id
    on conflict do nothing;
  end if;
  return null;
end $$;
