-- A settlement that comes after its hold was closed for a process taken for dead. The difference to
-- what was charged then is posted once, as entries of their own, and the record says what became of
-- the call. Not part of the batches: it happens after outages only.
alter table entry drop constraint entry_step_check,
  add constraint entry_step_check check (step in ('hold', 'charge', 'return', 'overrun', 'debt',
    'credit', 'repay', 'debit', 'forgive', 'correction', 'correction_debt', 'correction_return'))
    not valid;
alter table entry drop constraint entry_source_check,
  add constraint entry_source_check check (source in ('available', 'held', 'debt', 'top_up',
    'promotion', 'adjustment', 'write_off', 'revenue')) not valid;

alter table call
  -- What was charged when the call was taken for lost; null for a call that never was.
  add column lost_charge bigint check (lost_charge >= 0);

-- Takes a call back out of the figures by hour, where it has been counted. Its record then moves to
-- the present and is counted anew. The caller holds the watermark.
create function uncount_call(counted call) returns void
language plpgsql as $$
declare
  its_hour timestamptz := date_trunc('hour', counted.created_at, 'UTC');
  error_count bigint := (counted.status in ('failed', 'lost'))::int;
  cancelled_count bigint := (counted.status = 'cancelled')::int;
  known_cost bigint := coalesce(counted.cost, 0);
  without_cost bigint := case when counted.cost is null then counted.charged else 0 end;
begin
  update usage_hour set calls = calls - 1, errors = errors - error_count,
    cancelled = cancelled - cancelled_count, charged = charged - counted.charged,
    cost = cost - known_cost, uncosted = uncosted - without_cost
  where account_id = counted.account_id and hour = its_hour and model = counted.model
    and key_id = counted.key_id and endpoint = counted.endpoint;
  update usage_part set calls = calls - 1, errors = errors - error_count,
    cancelled = cancelled - cancelled_count, charged = charged - counted.charged
  where account_id = counted.account_id and hour = its_hour
    and (part, name) in (('all', ''), ('model', counted.model), ('key', counted.key_id),
      ('endpoint', counted.endpoint));
  update channel_hour set calls = calls - 1, errors = errors - error_count,
    charged = charged - counted.charged, cost = cost - known_cost,
    uncosted = uncosted - without_cost
  where hour = its_hour and channel = coalesce(counted.attempts -> -1 ->> 'channel', '')
    and model = counted.model and currency = counted.currency;
  update key_use set calls = calls - 1, charged = charged - counted.charged
  where key_id = counted.key_id;
  if counted.status = 'succeeded' and counted.task_id is null then
    update latency_hour set calls = calls - 1
    where account_id = counted.account_id and hour = its_hour and model = counted.model
      and bucket = latency_bucket(counted.created_at, counted.finished_at);
    update latency_all set calls = calls - 1
    where account_id = counted.account_id and hour = its_hour
      and bucket = latency_bucket(counted.created_at, counted.finished_at);
  end if;
end $$;

-- Puts a call right that was closed as lost: charges what is owed beyond what was charged then, from
-- what is available and the rest as debt, or gives back what was too much. `detail` is as that of
-- ledger_close. Returns corrected; already, when the record is not, or no longer, of a lost call;
-- unknown, when there is no such hold; superseded, when the call's Idempotency-Key has been used
-- again since: a key is charged once, and the record stays as it is.
create function ledger_correct(
  corrected_hold text, owed bigint, new_status text, new_basis text, new_review boolean,
  new_cost bigint, new_cost_version bigint, new_error text, detail jsonb
) returns text
language plpgsql
set lock_timeout = '300ms'
as $$
declare
  closed hold%rowtype;
  recorded call%rowtype;
  pot balance%rowtype;
  counted timestamptz;
  answer jsonb := detail -> 'answer';
  difference bigint;
  from_available bigint := 0;
begin
  -- Before the balance: whoever counts holds it for longer than a balance may wait.
  select counted_until into counted from usage_watermark for share;
  select * into closed from hold where id = corrected_hold;
  if not found then
    return 'unknown';
  end if;
  select * into pot from balance where account_id = closed.account_id for update;
  select * into recorded from call where hold_id = corrected_hold for update;
  if not found or recorded.status <> 'lost' then
    return 'already';
  end if;
  difference := coalesce(owed, 0) - recorded.charged;
  if difference > 0 and answer ? 'key' then
    insert into idempotency (account_id, key, route, fingerprint, request_id, hold_id)
    values (closed.account_id, answer ->> 'key', coalesce(answer ->> 'route', ''),
      decode(coalesce(answer ->> 'fingerprint', ''), 'hex'), closed.request_id, closed.id)
    on conflict (account_id, key) do nothing;
    if exists (select from idempotency
      where account_id = closed.account_id and key = answer ->> 'key' and hold_id <> closed.id)
    then
      return 'superseded';
    end if;
  end if;

  if recorded.finished_at < counted then
    perform uncount_call(recorded);
  end if;
  if difference > 0 then
    from_available := least(difference, pot.available);
    if from_available > 0 then
      insert into entry (posting, step, account_id, currency, source, destination, amount)
      values (closed.id, 'correction', closed.account_id, pot.currency, 'available', 'revenue',
        from_available);
    end if;
    if difference > from_available then
      insert into entry (posting, step, account_id, currency, source, destination, amount)
      values (closed.id, 'correction_debt', closed.account_id, pot.currency, 'debt', 'revenue',
        difference - from_available);
    end if;
    update balance set available = available - from_available,
      debt = debt + difference - from_available
    where account_id = closed.account_id;
  elsif difference < 0 then
    insert into entry (posting, step, account_id, currency, source, destination, amount)
    values (closed.id, 'correction_return', closed.account_id, pot.currency, 'revenue',
      'available', -difference);
    update balance set available = available - difference where account_id = closed.account_id;
  end if;
  update hold set state = case when owed is null then 'released' else 'settled' end
  where id = closed.id;
  update call set status = new_status, basis = new_basis, review = new_review,
    charged = coalesce(owed, 0), returned = held - least(coalesce(owed, 0), held),
    debt = greatest(0, difference - from_available), lost_charge = recorded.charged,
    lines = coalesce(detail -> 'lines', '[]'), attempts = coalesce(detail -> 'attempts', '[]'),
    error = new_error, cost = new_cost, cost_version = new_cost_version,
    finished_at = clock_timestamp()
  where hold_id = closed.id;
  if closed.spend_limited and difference <> 0 then
    perform ledger_spend(array[closed.key_id], array[0::bigint], array[difference]);
  end if;
  if answer is not null then
    perform ledger_answer(array[closed.id], array[closed.account_id], array[answer]);
  end if;
  return 'corrected';
end $$;
