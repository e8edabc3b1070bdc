-- revision 6

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

-- The versions of the rows of the holds with after < id <= upto, their calls and entries: any change
-- of a row gives it another version, and another place or transaction. Far cheaper than the lines.
create or replace function archive_version(after text, upto text) returns text
language sql stable
set enable_seqscan = off
set jit = off
as $$
  select concat_ws(' ', h.version, c.version, e.version)
  from (
    select concat(count(*), ':', sum(hash_record_extended(row(ctid, xmin), 0))) as version
    from hold where id > after and id <= upto) h
  cross join (
    select concat(count(*), ':', sum(hash_record_extended(row(ctid, xmin), 0))) as version
    from call where request_id > 'req_' || substr(after, 6)
      and request_id <= 'req_' || substr(upto, 6)) c
  cross join (
    select concat(count(*), ':', sum(hash_record_extended(row(ctid, xmin), 0))) as version
    from entry where posting > after and posting <= upto) e
$$;

-- Removes the holds with after < id <= upto, their calls and entries, and adds their sums. `version`
-- is the archive_version of the snapshot from which the object was written: rows that have changed
-- since are not removed. Every statement names the range of each table that it reads, so that its
-- cost is that of the range, however many calls are kept.
-- Returns removed, or the reason why nothing was: changed; open (a hold is open, or was closed in
-- the last week); unexplained (a hold without its call, a call or an entry without its hold);
-- uncounted (a call is not in the figures yet); unbalanced (the entries of a call do not come to its
-- hold and its charge); unsealed; altered (an entry is not what was sealed).
create or replace function archive_clear(
  of_month date, after text, upto text, version text, content bytea, object_key text,
  object_bytes bigint, object_sha256 bytea
) returns text
language plpgsql
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
set work_mem = '32MB'
set jit = off
as $$
declare
  after_request text := 'req_' || substr(after, 6);
  upto_request text := 'req_' || substr(upto, 6);
  judged record;
  sealed record;
  removed_count integer;
begin
  -- First the calls, as ledger_correct does: a correction that waits here finds no call afterwards.
  perform 1 from call c where c.request_id > after_request and c.request_id <= upto_request
  order by c.request_id for update;
  perform 1 from hold h where h.id > after and h.id <= upto order by h.id for update;
  if archive_version(after, upto) is distinct from version then
    return 'changed';
  end if;

  select count(h.id)::integer as holds, min(h.id) as first_id, max(h.id) as last_id,
    bool_or(h.state = 'open' or h.closed_at > now() - interval '7 days') as is_open,
    bool_or(h.id is null or c.hold_id is distinct from h.id) as is_unexplained,
    bool_or(c.finished_at >= coalesce(
      -- Tags are counted no further than the rest.
      (select tags_until from usage_watermark), '-infinity')) as is_uncounted,
    bool_or(coalesce(e.gone, 0) <> h.amount or coalesce(e.revenue, 0) <> c.charged)
      as is_unbalanced
  into judged
  from (
    select id, request_id, state, amount, closed_at from hold
    where id > after and id <= upto) h
  full join (
    select request_id, hold_id, charged, finished_at from call
    where request_id > after_request and request_id <= upto_request) c
    on c.request_id = h.request_id
  full join (
    select posting, coalesce(sum(amount) filter (where source = 'held'), 0) as gone,
      coalesce(sum(amount) filter (where destination = 'revenue'), 0)
        - coalesce(sum(amount) filter (where source = 'revenue'), 0) as revenue
    from entry where posting > after and posting <= upto group by posting) e
    on e.posting = h.id;
  if judged.is_open then
    return 'open';
  elsif judged.is_unexplained then
    return 'unexplained';
  elsif judged.is_uncounted then
    return 'uncounted';
  elsif judged.is_unbalanced then
    return 'unbalanced';
  end if;

  with entry_mark as materialized (
    -- As a block has it: the id and the first eight bytes of the digest.
    select e.id, int8send(e.id) || substr(ledger_entry_digest(e), 1, 8) as mark
    from entry e where e.posting > after and e.posting <= upto
  ), piece as (
    -- Most ids are close to each other; those of corrections are not.
    select min(id) as first_id, max(id) as last_id from entry_mark group by id / 1000
  ), block as materialized (
    -- Concatenation reads the stored marks once, and not again for each of them.
    select b.number, b.marks || ''::bytea as marks from ledger_block b
    where b.number in (
      select o.number from piece p cross join lateral (
        select number from ledger_block where upto_id >= p.first_id and upto_id <= (
          select min(upto_id) from ledger_block where upto_id >= p.last_id)) o)
  ), mark as materialized (
    select b.number, substr(b.marks, n * 16 + 1, 16) as mark
    from block b cross join lateral generate_series(0, octet_length(b.marks) / 16 - 1) n
  ), counted as (
    select m.number, count(*)::integer as entries
    from entry_mark e join mark m on m.mark = e.mark group by 1)
  select array_agg(c.number order by c.number) as blocks,
    array_agg(c.entries order by c.number) as counts, coalesce(sum(c.entries), 0)::integer as marked,
    (select count(*)::integer from entry_mark) as entries,
    (select max(id) from entry_mark) as last_id
  into sealed from counted c;
  if sealed.last_id > coalesce((select max(upto_id) from ledger_block), 0) then
    return 'unsealed';
  elsif sealed.marked <> sealed.entries then
    return 'altered';
  end if;

  insert into archive_object (storage_key, month, first_id, last_id, holds, entries, bytes, sha256,
    content_sha256, first_block, last_block)
  values (object_key, of_month, judged.first_id, judged.last_id, judged.holds, sealed.entries,
    object_bytes, object_sha256, content, sealed.blocks[1],
    sealed.blocks[cardinality(sealed.blocks)]);
  insert into archived_block as known (number, entries)
  select b.number, b.entries from unnest(sealed.blocks, sealed.counts) as b(number, entries)
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
  from (select id, spend_limited from hold where id > after and id <= upto) h
  join (select * from call where request_id > after_request and request_id <= upto_request) c
    on c.hold_id = h.id
  group by 2, 3 order by 2, 3
  on conflict (account_id, key_id, month) do update
  set calls = known.calls + excluded.calls, charged = known.charged + excluded.charged,
    limited = known.limited + excluded.limited;
  insert into archived_budget as known (use_id, spent)
  select u.id, sum(budget_used(b.unit, case when h.state = 'settled' then c.charged end,
    h.counters[n + 1], c.lines))
  from (
    select id, state, counters from hold
    where id > after and id <= upto and counters is not null) h
  join (select * from call where request_id > after_request and request_id <= upto_request) c
    on c.hold_id = h.id
  cross join lateral generate_series(1, cardinality(h.counters), 2) n
  join budget_use u on u.id = h.counters[n] join budget b on b.id = u.budget_id
  group by 1 order by 1
  on conflict (use_id) do update set spent = known.spent + excluded.spent;

  perform set_config('tributary.archiving', pg_current_xact_id()::text, true);
  delete from entry e where e.posting > after and e.posting <= upto;
  get diagnostics removed_count = row_count;
  perform set_config('tributary.archiving', '', true);
  if removed_count <> sealed.entries then
    raise exception '% entries removed, % archived', removed_count, sealed.entries;
  end if;
  perform reopen_weeks(judged.first_id, judged.last_id);
  delete from call c where c.request_id > after_request and c.request_id <= upto_request;
  get diagnostics removed_count = row_count;
  if removed_count <> judged.holds then
    raise exception '% calls removed, % archived', removed_count, judged.holds;
  end if;
  delete from hold h where h.id > after and h.id <= upto;
  get diagnostics removed_count = row_count;
  if removed_count <> judged.holds then
    raise exception '% holds removed, % archived', removed_count, judged.holds;
  end if;
  return 'removed';
end $$;

-- As the version before removes rows: `content` is the SHA-256 of the lines that the object has.
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
begin
  perform 1 from call c where c.request_id > 'req_' || substr(after, 6)
    and c.request_id <= 'req_' || substr(upto, 6) order by c.request_id for update;
  perform 1 from hold h where h.id > after and h.id <= upto order by h.id for update;
  select sha256(convert_to(string_agg(l.line || E'\n', '' order by l.id), 'UTF8'))
  into found_content from archive_lines(after, upto, null) l;
  if found_content is distinct from content then
    return 'changed';
  end if;
  -- It knows no other word.
  return replace(archive_clear(of_month, after, upto, archive_version(after, upto), content,
    object_key, object_bytes, object_sha256), 'unbalanced', 'unexplained');
end $$;
