-- Limits of accounts, keys and models that hold over all gateways: they are decided in the statement
-- that takes the hold, under the lock of the account's balance, which every hold of the account
-- takes. The lock therefore protects the rows of these tables as well.

-- What counted towards the limits of `subject` within the last minute: entries of a time in
-- milliseconds since 1970, a number of requests and of tokens, the oldest first.
create table rate_window (
  subject text primary key,
  times bigint[] not null,
  requests bigint[] not null,
  tokens bigint[] not null,
  updated_at timestamptz not null default now()
) with (fillfactor = 50);

-- Calls that count towards a limit of concurrent calls for as long as their hold is open: whatever
-- closes the hold frees the slot, so there is no counter that could drift.
create table call_slot (
  subject text not null,
  hold_id text not null,
  primary key (subject, hold_id)
);

-- The seconds until `requests` and `tokens` of the oldest entries have left the window.
create function rate_wait(waiting text, requests_over bigint, tokens_over bigint, now_ms bigint)
returns integer
language sql stable
as $$
  select greatest(1, ceil((min(e.at) + 60000 - now_ms) / 1000.0))::integer
  from (
    select u.at, sum(u.requests) over (order by u.place) as requests,
      sum(u.tokens) over (order by u.place) as tokens
    from rate_window w, unnest(w.times, w.requests, w.tokens) with ordinality
      as u(at, requests, tokens, place)
    where w.subject = waiting and u.at > now_ms - 60000) e
  where e.requests >= requests_over and e.tokens >= tokens_over
$$;

-- Decides about calls one after the other. `limits` has one element for each of `ids`: null, or
-- {"tokens": n, "subjects": [{"name", "requests"?, "tokens"?, "calls"?}]}. Returns for each the
-- seconds to wait, 0 for a call within its limits, or -1 for one that uses more tokens than a limit
-- allows in a minute. A hold that exists already has been counted.
create function rate_decide(ids text[], limits jsonb, now_ms bigint) returns integer[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  names text[];
  requests bigint[];
  tokens bigint[];
  running bigint[];
  existing text[] := array(select id from hold where id = any (ids));
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
    and not exists (select from hold h where h.id = s.hold_id and h.state = 'open');
  select array_agg(coalesce(w.requests, 0) order by n.place),
    array_agg(coalesce(w.tokens, 0) order by n.place),
    array_agg((select count(*) from call_slot s where s.subject = n.name) order by n.place)
  into requests, tokens, running
  from unnest(names) with ordinality as n(name, place)
  left join lateral (
    select sum(u.requests)::bigint as requests, sum(u.tokens)::bigint as tokens
    from rate_window r, unnest(r.times, r.requests, r.tokens) as u(at, requests, tokens)
    where r.subject = n.name and u.at > now_ms - 60000) w on true;

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
create function rate_count(
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
  first := 1 + (select count(*) from unnest(w.times) t where t <= now_ms - 60000);
  w.times := w.times[first:];
  w.requests := w.requests[first:];
  w.tokens := w.tokens[first:];
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
create function rate_count_all(ids text[], limits jsonb, counted text[], now_ms bigint)
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

-- Takes holds as ledger_take does, within the limits of `limits` (see rate_decide). A call that any
-- of its limits or the ledger refuses counts towards none. Further outcomes are limited:N, the
-- seconds to wait, and too_many_tokens.
create function ledger_take_limited(
  ids text[], request_ids text[], account_ids text[], key_ids text[], owner_ids text[],
  task_ids text[], endpoints text[], models text[], price_versions bigint[], amounts bigint[],
  estimates jsonb, spend_limits bigint[], idempotency_keys text[], routes text[],
  fingerprints text[], deadline timestamptz, limits jsonb
) returns text[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_nestloop = off
set lock_timeout = '300ms'
as $$
declare
  now_ms bigint;
  waits integer[];
  refused text[] := '{}';
  over_limits text[] := '{}';
  taken text[];
  part record;
begin
  perform 1 from balance where account_id = any (account_ids) order by account_id for update;
  -- Read under the lock, so that entries are in the order of their times.
  now_ms := extract(epoch from clock_timestamp()) * 1000;
  waits := rate_decide(ids, limits, now_ms);
  if not (0 <> any (waits)) then
    refused := ledger_take(ids, request_ids, account_ids, key_ids, owner_ids, task_ids, endpoints,
      models, price_versions, amounts, estimates, spend_limits, idempotency_keys, routes,
      fingerprints, deadline);
  else
    select array_agg(o.id order by o.n) as ids, array_agg(o.request_id order by o.n) as request_ids,
      array_agg(o.account_id order by o.n) as account_ids,
      array_agg(o.key_id order by o.n) as key_ids, array_agg(o.owner_id order by o.n) as owner_ids,
      array_agg(o.task_id order by o.n) as task_ids,
      array_agg(o.endpoint order by o.n) as endpoints, array_agg(o.model order by o.n) as models,
      array_agg(o.price_version order by o.n) as price_versions,
      array_agg(o.amount order by o.n) as amounts, jsonb_agg(o.estimate order by o.n) as estimates,
      array_agg(o.spend_limit order by o.n) as spend_limits,
      array_agg(o.idempotency_key order by o.n) as idempotency_keys,
      array_agg(o.route order by o.n) as routes, array_agg(o.fingerprint order by o.n) as fingerprints
    into part
    from rows from (
      unnest(ids, request_ids, account_ids, key_ids, owner_ids, task_ids, endpoints, models,
        price_versions, amounts, spend_limits, idempotency_keys, routes, fingerprints, waits),
      jsonb_array_elements(estimates)
    ) with ordinality as o(id, request_id, account_id, key_id, owner_id, task_id, endpoint, model,
      price_version, amount, spend_limit, idempotency_key, route, fingerprint, wait, estimate, n)
    where o.wait = 0;
    if part.ids is not null then
      refused := ledger_take(part.ids, part.request_ids, part.account_ids, part.key_ids,
        part.owner_ids, part.task_ids, part.endpoints, part.models, part.price_versions,
        part.amounts, part.estimates, case when spend_limits is not null then part.spend_limits end,
        case when idempotency_keys is not null then part.idempotency_keys end,
        case when idempotency_keys is not null then part.routes end,
        case when idempotency_keys is not null then part.fingerprints end, deadline);
    end if;
    over_limits := array(
      select v.word from unnest(ids, waits) as o(id, wait)
      cross join lateral (values (1, o.id),
        (2, case when o.wait < 0 then 'too_many_tokens' else 'limited:' || o.wait end))
        as v(place, word)
      where o.wait <> 0 order by o.id, v.place);
  end if;

  -- What the ledger refused is in `refused`, what exists already too.
  taken := array(
    select o.id from unnest(ids, waits) as o(id, wait)
    where o.wait = 0 and not o.id = any (refused));
  perform rate_count_all(ids, limits, taken, now_ms);
  insert into call_slot (subject, hold_id)
  select s ->> 'name', o.id
  from rows from (unnest(ids, task_ids), jsonb_array_elements(limits)) as o(id, task_id, rules)
  cross join lateral jsonb_array_elements(
    case when jsonb_typeof(o.rules) = 'object' then o.rules -> 'subjects' end) s
  where o.id = any (taken) and o.task_id is null and s ? 'calls'
  on conflict do nothing;
  return refused || over_limits;
end $$;

-- Counts what takes no hold of its own: requests that cost nothing, and a running call that another
-- model serves, whose slot is its hold's. `ids` are no ids of holds; `limits` as in rate_decide.
-- Returns the seconds to wait for each.
create function rate_take(
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
  waits := rate_decide(ids, limits, now_ms);
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

-- Closes holds as ledger_close does, and gives the tokens back that calls counted and did not use:
-- `returned` has elements {"id": hold, "tokens": n, "names": [subject]}; n is negative for a call
-- that used more. Only the call that closes the hold gives back.
create function ledger_close_limited(
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
  back record;
begin
  for back in
    select n.name, (r ->> 'tokens')::bigint as tokens,
      floor(extract(epoch from h.created_at) * 1000)::bigint as taken_ms
    from jsonb_array_elements(returned) r
    join hold h on h.id = r ->> 'id'
    cross join lateral jsonb_array_elements_text(r -> 'names') as n(name)
    where not h.id = any (not_closed)
    order by n.name
  loop
    update rate_window w
    set tokens[p.place] = greatest(0, w.tokens[p.place] - back.tokens)
    from (
      select min(u.place)::integer as place
      from rate_window r, unnest(r.times) with ordinality as u(at, place)
      where r.subject = back.name and u.at >= back.taken_ms) p
    where w.subject = back.name and p.place is not null;
  end loop;
  return not_closed;
end $$;
