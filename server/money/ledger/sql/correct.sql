-- revision 6

-- Corrects a call that was closed as lost, because its settlement comes after all: charges the
-- amount owed beyond the charge of that time, from the available balance and the rest as debt, or
-- gives back the excess, which pays a debt first. The difference is posted once, as entries of
-- their own. Not part of the batches: it happens after outages only. `detail` is as that of
-- ledger_close, with "account_id" where the account is known. Returns corrected; already, when the
-- record is not, or no longer, of a lost call; unknown, when there is no such hold; superseded, when
-- the call's Idempotency-Key has been used again since: a key is charged once, and the record stays
-- as it is.
--
-- The counter of a key that got its spend limit after the call was closed moves too: it began with
-- every charge so far, the lost call's among them. Only an amount that was counted for certain is
-- taken out of it again: a gateway with a stale limit may have taken holds that are not counted.
create or replace function ledger_correct(
  corrected_hold text, owed bigint, new_status text, new_basis text, new_review boolean,
  new_upstream_cost bigint, new_upstream_cost_version bigint, new_error text, detail jsonb
) returns text
language plpgsql
set lock_timeout = '300ms'
as $$
declare
  of_account text := coalesce(detail ->> 'account_id',
    (ledger_accounts(array[corrected_hold]))[1]);
  closed hold%rowtype;
  recorded call%rowtype;
  pot balance%rowtype;
  counted timestamptz;
  answer jsonb := detail -> 'answer';
  difference bigint;
  from_available bigint := 0;
  repaid bigint := 0;
begin
  -- Before the balance: whoever counts holds it for longer than a balance may wait.
  select counted_until into counted from usage_watermark for share;
  select * into closed from hold where id = corrected_hold and account_id = of_account;
  if not found then
    return 'unknown';
  end if;
  select * into pot from balance where account_id = of_account for update;
  select * into recorded from call
  where hold_id = corrected_hold and account_id = of_account for update;
  if not found or recorded.status <> 'lost' then
    return 'already';
  end if;
  difference := coalesce(owed, 0) - recorded.charged;
  if difference > 0 and answer ? 'key' then
    insert into idempotency (account_id, key, route, fingerprint, request_id, hold_id)
    values (of_account, answer ->> 'key', coalesce(answer ->> 'route', ''),
      decode(coalesce(answer ->> 'fingerprint', ''), 'hex'), closed.request_id, closed.id)
    on conflict (account_id, key) do nothing;
    if exists (select from idempotency
      where account_id = of_account and key = answer ->> 'key' and hold_id <> closed.id)
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
      values (closed.id, 'correction', of_account, pot.currency, 'available', 'revenue',
        from_available);
    end if;
    if difference > from_available then
      insert into entry (posting, step, account_id, currency, source, destination, amount)
      values (closed.id, 'correction_debt', of_account, pot.currency, 'debt', 'revenue',
        difference - from_available);
    end if;
    update balance set available = available - from_available,
      debt = debt + difference - from_available
    where account_id = of_account;
  elsif difference < 0 then
    -- Straight to the debt: the one `repay` that a posting may have can be of the hold's end.
    repaid := least(-difference, pot.debt);
    insert into entry (posting, step, account_id, currency, source, destination, amount)
    select closed.id, m.step, of_account, pot.currency, 'revenue', m.destination, m.amount
    from (values ('correction_debt', 'debt', repaid),
        ('correction_return', 'available', -difference - repaid)) as m(step, destination, amount)
    where m.amount > 0;
    update balance set available = available - difference - repaid, debt = debt - repaid
    where account_id = of_account;
  end if;
  if closed.counters is not null then
    perform budget_correct(closed.counters,
      case when closed.state = 'settled' then recorded.charged end, recorded.lines, owed,
      coalesce(detail -> 'lines', '[]'));
  end if;
  perform reopen_weeks(closed.id, closed.id);
  update hold set state = case when owed is null then 'released' else 'settled' end
  where id = closed.id and account_id = of_account;
  update call set status = new_status, basis = new_basis, review = new_review,
    charged = coalesce(owed, 0), returned = held - least(coalesce(owed, 0), held),
    debt = greatest(0, difference - from_available), lost_charge = recorded.charged,
    lines = coalesce(detail -> 'lines', '[]'), attempts = coalesce(detail -> 'attempts', '[]'),
    error = new_error, upstream_cost = new_upstream_cost,
    upstream_cost_version = new_upstream_cost_version,
    finished_at = greatest(clock_timestamp(), call_end())
  where hold_id = closed.id and account_id = of_account;
  if difference > 0 or closed.spend_limited then
    perform ledger_spend(array[of_account], array[closed.key_id], array[0::bigint],
      array[difference]);
  end if;
  if answer is not null then
    perform ledger_answer(array[closed.id], array[of_account], array[answer]);
  end if;
  return 'corrected';
end $$;
