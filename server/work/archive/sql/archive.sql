-- revision 5

-- Whether the month of a hold is archived, or is being archived.
create or replace function is_archived(hold_id text) returns boolean
language sql stable as $$
  select exists (select from archive a where hold_id > a.after_id and hold_id < a.end_id)
$$;

-- Closed and open holds with after < id <= upto, in the order of ids, each with its call and its
-- entries. Money is text: JSON's numbers are not exact everywhere. The columns are named, because
-- jsonb that is put together costs three times as much; a test wants each column of the tables here.
create or replace function archive_lines(after text, upto text, most integer)
returns table (id text, line text)
language sql stable
set timezone = 'UTC'
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
  select h.id, concat('{"hold":', (
    select row_to_json(o) from (
      select h.id, h.request_id, h.account_id, h.key_id, h.owner_id, h.task_id, h.endpoint,
        h.model, h.price_version, h.amount::text as amount, h.estimate, h.spend_limited, h.state,
        h.checkpoint, h.created_at, h.closed_at, h.labels, h.counters) o
  ), ',"call":', coalesce(case when c.request_id is not null then (
    select row_to_json(o)::text from (
      select c.request_id, c.hold_id, c.account_id, c.key_id, c.task_id, c.endpoint, c.model,
        c.status, c.basis, c.review, c.currency, c.held::text as held,
        c.charged::text as charged, c.returned::text as returned, c.debt::text as debt,
        c.price_version, c.lines, c.attempts, c.error, c.upstream_cost::text as upstream_cost,
        c.upstream_cost_version, c.lost_charge::text as lost_charge, c.created_at, c.finished_at,
        c.labels) o
  ) end, 'null'), ',"entries":[', (
    select string_agg((
      select row_to_json(o)::text from (
        select e.id::text as id, e.posting, e.step, e.account_id, e.currency, e.source,
          e.destination, e.amount::text as amount, e.at) o
    ), ',' order by e.id) from entry e where e.posting = h.id
  ), ']}')
  from (
    select * from hold where hold.id > after and hold.id <= upto order by hold.id limit most) h
  left join call c on c.request_id = h.request_id and c.hold_id = h.id
  order by h.id
$$;

-- Removes the holds with after < id <= upto, their calls and entries, and adds their sums. `content`
-- is the SHA-256 of the lines that the object has: rows that have changed since are not removed.
-- Returns removed, or the reason why nothing was: changed; open (a hold is open, or was closed in
-- the last week); unexplained (a hold without its call, an entry without its hold); uncounted (a
-- call is not in the figures yet); unsealed; altered (an entry is not what was sealed).
create or replace function archive_remove(
  of_month date, after text, upto text, content bytea, object_key text, object_bytes bigint,
  object_sha256 bytea
) returns text
language plpgsql
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set jit = off
as $$
declare
  found_content bytea;
  first_hold text;
  last_hold text;
  hold_count integer;
  removed_count integer;
  ids bigint[];
  digests bytea[];
  blocks bigint[];
begin
  -- First the calls, as ledger_correct does: a correction that waits here finds no call afterwards.
  perform 1 from hold h join call c on c.request_id = h.request_id and c.hold_id = h.id
  where h.id > after and h.id <= upto for update of c;
  perform 1 from hold h where h.id > after and h.id <= upto order by h.id for update;

  select sha256(convert_to(string_agg(l.line || E'\n', '' order by l.id), 'UTF8')),
    count(*), min(l.id), max(l.id)
  into found_content, hold_count, first_hold, last_hold
  from archive_lines(after, upto, null) l;
  if found_content is distinct from content then
    return 'changed';
  end if;
  if exists (select from hold h where h.id > after and h.id <= upto
    and (h.state = 'open' or h.closed_at > now() - interval '7 days')) then
    return 'open';
  end if;
  if exists (select from hold h where h.id > after and h.id <= upto and not exists (
      select from call c where c.request_id = h.request_id and c.hold_id = h.id))
    or exists (select from entry e where e.posting > after and e.posting <= upto and not exists (
      select from hold h where h.id = e.posting))
  then
    return 'unexplained';
  end if;
  if exists (
    select from hold h join call c on c.request_id = h.request_id
    where h.id > after and h.id <= upto and c.finished_at >= coalesce(
      -- Tags are counted no further than the rest.
      (select tags_until from usage_watermark), '-infinity'))
  then
    return 'uncounted';
  end if;
  select array_agg(e.id order by e.id), array_agg(ledger_entry_digest(e) order by e.id)
  into ids, digests from entry e where e.posting > after and e.posting <= upto;
  blocks := array(select b.number from ledger_blocks_of(ids) b order by b.number);
  if array_position(blocks, null) is not null then
    return 'unsealed';
  end if;
  if exists (select from ledger_unmarked(ids, digests)) then
    return 'altered';
  end if;

  insert into archive_object (storage_key, month, first_id, last_id, holds, entries, bytes, sha256,
    content_sha256, first_block, last_block)
  values (object_key, of_month, first_hold, last_hold, hold_count, coalesce(cardinality(ids), 0),
    object_bytes, object_sha256, content, blocks[1], blocks[cardinality(blocks)]);
  insert into archived_block as known (number, entries)
  select b.number, count(*) from unnest(blocks) as b(number) group by 1 order by 1
  on conflict (number) do update set entries = known.entries + excluded.entries;
  insert into archived_sum as known
    (month, account_id, currency, source, destination, entries, amount)
  select of_month, e.account_id, e.currency, e.source, e.destination, count(*), sum(e.amount)
  from entry e where e.posting > after and e.posting <= upto group by 2, 3, 4, 5 order by 2, 3, 4, 5
  on conflict (month, account_id, currency, source, destination) do update
  set entries = known.entries + excluded.entries, amount = known.amount + excluded.amount;
  insert into archived_key as known (month, account_id, key_id, calls, charged, limited)
  select of_month, c.account_id, c.key_id, count(*), sum(c.charged),
    coalesce(sum(c.charged) filter (where h.spend_limited), 0)
  from hold h join call c on c.request_id = h.request_id
  where h.id > after and h.id <= upto group by 2, 3 order by 2, 3
  on conflict (account_id, key_id, month) do update
  set calls = known.calls + excluded.calls, charged = known.charged + excluded.charged,
    limited = known.limited + excluded.limited;
  insert into archived_budget as known (use_id, spent)
  select u.id, sum(budget_used(b.unit, case when h.state = 'settled' then c.charged end,
    h.counters[n + 1], c.lines))
  from hold h join call c on c.request_id = h.request_id
  cross join lateral generate_series(1, cardinality(h.counters), 2) n
  join budget_use u on u.id = h.counters[n] join budget b on b.id = u.budget_id
  where h.id > after and h.id <= upto group by 1 order by 1
  on conflict (use_id) do update set spent = known.spent + excluded.spent;

  perform set_config('tributary.archiving', pg_current_xact_id()::text, true);
  delete from entry e where e.posting > after and e.posting <= upto;
  get diagnostics removed_count = row_count;
  perform set_config('tributary.archiving', '', true);
  if removed_count <> coalesce(cardinality(ids), 0) then
    raise exception '% entries removed, % archived', removed_count, cardinality(ids);
  end if;
  perform reopen_weeks(first_hold, last_hold);
  delete from call c using hold h
  where h.id > after and h.id <= upto and c.request_id = h.request_id and c.hold_id = h.id;
  get diagnostics removed_count = row_count;
  if removed_count <> hold_count then
    raise exception '% calls removed, % archived', removed_count, hold_count;
  end if;
  delete from hold h where h.id > after and h.id <= upto;
  return 'removed';
end $$;
