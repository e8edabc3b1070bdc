-- revision 2
-- Verified weeks: their rows are history. Only a late settlement and an archive may change them.

-- SHA-256 over the holds, calls and entries of a week, in the order of their ids, half an hour at a
-- time: all digests of a busy week do not fit into one value. Each row is hashed in PostgreSQL's
-- binary form. Columns that are added later are not part of it: a migration that wants them
-- covered adds them here and empties verified_week.
create or replace function week_digest(first_id text, end_id text) returns bytea
language sql stable
set timezone = 'UTC'
set jit = off
as $$
  with digest as (
    select h.id as place, 1 as kind, 0::bigint as step, sha256(record_send(row(h.id, h.request_id,
      h.account_id, h.key_id, h.owner_id, h.task_id, h.endpoint, h.model, h.price_version,
      h.amount, h.estimate, h.spend_limited, h.state, h.checkpoint, h.created_at, h.closed_at,
      h.labels, h.counters))) as digest
    from hold h where h.id >= first_id and h.id < end_id
    union all
    select 'hold_' || substr(c.request_id, 5), 2, 0, sha256(record_send(row(c.request_id,
      c.hold_id, c.account_id, c.key_id, c.task_id, c.endpoint, c.model, c.status, c.basis,
      c.review, c.currency, c.held, c.charged, c.returned, c.debt, c.price_version, c.lines,
      c.attempts, c.error, c.upstream_cost, c.upstream_cost_version, c.lost_charge, c.created_at,
      c.finished_at, c.labels)))
    from call c
    where c.request_id >= 'req_' || substr(first_id, 6)
      and c.request_id < 'req_' || substr(end_id, 6)
    union all
    select e.posting, 3, e.id, ledger_entry_digest(e)
    from entry e where e.posting >= first_id and e.posting < end_id
  ), part as (
    select substr(place, 6, 5) as part, sha256(string_agg(digest, ''
      order by place collate "C", kind, step)) as digest
    from digest group by 1)
  select sha256(coalesce(string_agg(digest, '' order by part collate "C"), '')) from part
$$;

-- Lets this transaction change closed calls between two ids, both included: the next audit verifies
-- their weeks anew. Takes the lock of verified_week even if there is no such week: an audit waits for
-- it before it reads.
create or replace function reopen_weeks(first_id text, last_id text) returns void
language plpgsql as $$
begin
  update verified_week w set changed_at = clock_timestamp()
  where last_id >= w.start_id and first_id < w.end_id and w.changed_at is null;
  perform set_config('tributary.changing', pg_current_xact_id()::text, true);
end $$;

-- Refuses changes of closed calls in verified weeks, except after reopen_weeks. A week that is being
-- verified is not verified then, whoever changes it.
create or replace function guard_verified() returns trigger language plpgsql as $$
declare
  changed_hold text;
begin
  if current_setting('tributary.changing', true) = pg_current_xact_id()::text then
    return null;
  elsif tg_op = 'TRUNCATE' then
    if exists (select from verified_week where verified_at is not null) then
      raise exception '% has verified weeks: they are history', tg_table_name
        using errcode = 'insufficient_privilege';
    end if;
    return null;
  elsif tg_table_name = 'hold' then
    changed_hold := old.id;
  elsif tg_table_name = 'call' then
    changed_hold := 'hold_' || substr(old.request_id, 5);
  else
    changed_hold := old.hold_id;
  end if;
  update verified_week w set changed_at = clock_timestamp()
  where changed_hold >= w.start_id and changed_hold < w.end_id and w.verified_at is null;
  if exists (select from verified_week w
    where changed_hold >= w.start_id and changed_hold < w.end_id and w.verified_at is not null)
  then
    raise exception 'the % of % belongs to a week that is verified', tg_table_name, changed_hold
      using errcode = 'insufficient_privilege',
        hint = 'What was charged is history: post an adjustment with `tributary credit`.';
  end if;
  return null;
end $$;

-- An open hold is closed on the path of each call: the condition passes over it. The other condition
-- is that of guard_verified: a function call for each archived row costs as much as removing it.
create or replace trigger hold_guard after update or delete on hold
  for each row when (old.state <> 'open'
    and current_setting('tributary.changing', true) is distinct from pg_current_xact_id()::text)
  execute function guard_verified();
create or replace trigger hold_kept before truncate on hold
  for each statement execute function guard_verified();
create or replace trigger call_guard after update or delete on call
  for each row when (
    current_setting('tributary.changing', true) is distinct from pg_current_xact_id()::text)
  execute function guard_verified();
create or replace trigger call_kept before truncate on call
  for each statement execute function guard_verified();
-- Files, webhooks and views of an ended task change; how it ended does not.
create or replace trigger task_guard after update on task
  for each row when (old.finished_at is not null and (old.hold_id, old.request_id, old.state)
    is distinct from (new.hold_id, new.request_id, new.state))
  execute function guard_verified();
