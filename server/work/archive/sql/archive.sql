-- revision 13

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

-- The version of a row: its place, and the transaction that wrote it, whose 32 bits are known by their
-- distance from those of another. A third of what a hash of row(ctid, xmin) costs.
create or replace function archive_row_version(place tid, writer xid) returns bigint
language sql stable as $$
  select hashtidextended(place, (age(writer)::bigint - age('3'::xid)) & 4294967295)
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
    select concat(count(*), ':', bit_xor(archive_row_version(ctid, xmin))) as version
    from hold where id > after and id <= upto) h
  cross join (
    select concat(count(*), ':', bit_xor(archive_row_version(ctid, xmin))) as version
    from call where request_id > 'req_' || substr(after, 6)
      and request_id <= 'req_' || substr(upto, 6)) c
  cross join (
    select concat(count(*), ':', bit_xor(archive_row_version(ctid, xmin))) as version
    from entry where posting > after and posting <= upto) e
$$;

-- The sum of a few amounts as a bigint, which is cheaper than sum's numeric. It is exact: a sum that
-- is no bigint is an error.
create or replace aggregate archive_sum(bigint) (sfunc = int8pl, stype = bigint, parallel = safe);

-- Removes the holds with after < id <= upto, their calls and entries, and adds their sums. `version`
-- is the archive_version of the snapshot from which the object was written. The rows are read once,
-- as they are deleted: what was judged and summed is what was deleted, and it is what was written to
-- the object if all of it has this version. Otherwise, and with any other verdict, an exception
-- takes everything back.
-- Every statement names the range of each table that it reads, so that its cost is that of the
-- range, however many calls are kept.
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
  gone record;
  verdict text;
begin
  -- Each page is written to the log whole once: to compress it by pglz costs twice its other changes.
  if current_setting('wal_compression') in ('on', 'pglz')
    and (select rolsuper from pg_roles where rolname = current_user) then
    perform set_config('wal_compression', 'off', true);
  end if;
  perform set_config('tributary.archiving', pg_current_xact_id()::text, true),
    set_config('tributary.changing', pg_current_xact_id()::text, true);

  with gone_call as (
    delete from call c where c.request_id > 'req_' || substr(after, 6)
      and c.request_id <= 'req_' || substr(upto, 6)
    returning archive_row_version(c.ctid, c.xmin) as version, c.request_id, c.hold_id,
      c.account_id, c.key_id, c.charged, c.finished_at,
      case when (select exists (select from budget)) then c.lines end as lines
  ), gone_hold as (
    -- Calls are deleted first, as ledger_correct locks them, which knows no deleted call.
    delete from hold h where h.id > after and h.id <= upto
      and (select count(*) from gone_call) >= 0
    returning archive_row_version(h.ctid, h.xmin) as version, h.id, h.request_id,
      h.state, h.amount, h.closed_at, h.spend_limited, h.counters
  ), gone_entry as (
    -- A mark is what a sealed block has of an entry: its id, and the first bytes of its digest.
    delete from entry e where e.posting > after and e.posting <= upto
      and (select count(*) from gone_hold) >= 0
    returning archive_row_version(e.ctid, e.xmin) as version, e.id, e.posting,
      e.account_id, e.currency, e.source, e.destination, e.amount,
      int8send(e.id) || substr(ledger_entry_digest(e), 1, 8) as mark
  ), counts as (
    select concat_ws(' ',
      (select concat(count(*), ':', bit_xor(h.version)) from gone_hold h),
      (select concat(count(*), ':', bit_xor(c.version)) from gone_call c),
      concat(count(*), ':', bit_xor(e.version))) as version,
      count(*)::integer as entries, max(e.id) as last_entry
    from gone_entry e
  ), judged as (
    select count(h.id)::integer as holds, min(h.id) as first_id, max(h.id) as last_id,
      bool_or(h.state = 'open' or h.closed_at > now() - interval '7 days') as is_open,
      bool_or(h.id is null or c.hold_id is distinct from h.id) as is_unexplained,
      max(c.finished_at) as finished_at,
      bool_or(coalesce(e.gone, 0) <> h.amount or coalesce(e.revenue, 0) <> c.charged)
        as is_unbalanced
    from gone_hold h
    full join gone_call c on c.request_id = h.request_id
    full join (
      select posting, archive_sum(amount) filter (where source = 'held') as gone,
        archive_sum(case when destination = 'revenue' then amount
          when source = 'revenue' then -amount end) as revenue
      from gone_entry group by posting) e
      on e.posting = h.id
  ), piece as (
    -- Most ids are close to each other; those of corrections are not.
    select min(id) as first_id, max(id) as last_id from gone_entry group by id / 1000
  ), block as materialized (
    -- Concatenation reads the stored marks once, and not again for each of them.
    select b.number, b.marks || ''::bytea as marks from ledger_block b
    where b.number in (
      select o.number from piece p cross join lateral (
        select number from ledger_block where upto_id >= p.first_id and upto_id <= (
          select min(upto_id) from ledger_block where upto_id >= p.last_id)) o)
  ), counted as materialized (
    select m.number, count(*)::integer as entries
    from gone_entry e join (
      select b.number, substr(b.marks, n * 16 + 1, 16) as mark
      from block b cross join lateral generate_series(0, octet_length(b.marks) / 16 - 1) n) m
      on m.mark = e.mark
    group by 1
  ), marked as (
    -- Of one snapshot with the marks: what is sealed meanwhile has none of them here.
    select min(c.number) as first_block, max(c.number) as last_block,
      coalesce(sum(c.entries), 0)::integer as marked,
      (select coalesce(max(upto_id), 0) from ledger_block) as sealed_upto
    from counted c
  ), blocks as (
    insert into archived_block as known (number, entries)
    select number, entries from counted order by number
    on conflict (number) do update set entries = known.entries + excluded.entries
  ), sums as (
    insert into archived_sum as known
      (month, account_id, currency, source, destination, entries, amount)
    select of_month, account_id, currency, source, destination, count(*), sum(amount)
    from gone_entry group by 2, 3, 4, 5 order by 2, 3, 4, 5
    on conflict (month, account_id, currency, source, destination) do update
    set entries = known.entries + excluded.entries, amount = known.amount + excluded.amount
  ), keys as (
    insert into archived_key as known (month, account_id, key_id, calls, charged, limited)
    select of_month, c.account_id, c.key_id, count(*), sum(c.charged),
      coalesce(sum(c.charged) filter (where h.id is not null), 0)
    from gone_call c left join (select id from gone_hold where spend_limited) h
      on h.id = c.hold_id
    group by 2, 3 order by 2, 3
    on conflict (account_id, key_id, month) do update
    set calls = known.calls + excluded.calls, charged = known.charged + excluded.charged,
      limited = known.limited + excluded.limited
  ), budgets as (
    insert into archived_budget as known (use_id, spent)
    select u.id, sum(budget_used(b.unit, case when h.state = 'settled' then c.charged end,
      h.counters[n + 1], c.lines))
    from (select * from gone_hold where counters is not null) h
    join gone_call c on c.hold_id = h.id
    cross join lateral generate_series(1, cardinality(h.counters), 2) n
    join budget_use u on u.id = h.counters[n] join budget b on b.id = u.budget_id
    group by 1 order by 1
    on conflict (use_id) do update set spent = known.spent + excluded.spent
  )
  select * into gone from counts cross join judged cross join marked;
  perform set_config('tributary.archiving', '', true);

  verdict := case
    when gone.version is distinct from archive_clear.version or gone.holds = 0 then 'changed'
    when gone.is_open then 'open'
    when gone.is_unexplained then 'unexplained'
    -- Tags are counted no further than the rest.
    when gone.finished_at >= coalesce(
      (select tags_until from usage_watermark), '-infinity') then 'uncounted'
    when gone.is_unbalanced then 'unbalanced'
    when gone.last_entry > gone.sealed_upto then 'unsealed'
    when gone.marked <> gone.entries then 'altered'
  end;
  if verdict is not null then
    raise exception '%', verdict using errcode = 'AR001';
  end if;
  insert into archive_object (storage_key, month, first_id, last_id, holds, entries, bytes, sha256,
    content_sha256, first_block, last_block)
  values (object_key, of_month, gone.first_id, gone.last_id, gone.holds, gone.entries,
    object_bytes, object_sha256, content, gone.first_block, gone.last_block);
  -- Last, as ledger_correct does it: neither waits for the other in a circle.
  perform reopen_weeks(gone.first_id, gone.last_id);
  return 'removed';
exception
  when sqlstate 'AR001' then
    return sqlerrm;
  when numeric_value_out_of_range then
    -- A sum that is no bigint is no call's hold or charge. Any other overflow is a fault of its own.
    if exists (
      select from entry e where e.posting > after and e.posting <= upto
      group by e.posting
      having greatest(sum(e.amount) filter (where e.source = 'held'),
        sum(e.amount) filter (where 'revenue' in (e.source, e.destination))) > 9223372036854775807
    ) then
      return 'unbalanced';
    end if;
    raise;
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

-- archive_clear used it up to revision 7.
drop function if exists archive_judge(text, text);
