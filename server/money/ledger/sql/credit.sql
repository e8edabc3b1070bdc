-- revision 1

-- Puts money in (top-up, promotion, positive adjustment: debt is paid first), takes it back
-- (negative adjustment: never more than is available) or forgives debt. Idempotent by id and
-- by the payment provider's event id. Returns false when it had been done before.
create or replace function ledger_credit(
  credit_id text, credited_account text, credit_kind text, credit_amount bigint,
  credit_reason text, credit_actor text, provider_event text
) returns boolean
language plpgsql as $$
declare
  locked balance%rowtype;
  origin text;
  repaid bigint := 0;
begin
  select * into locked from balance where account_id = credited_account for update;
  if not found then
    raise exception 'no account %', credited_account using errcode = 'foreign_key_violation';
  end if;
  insert into credit (id, account_id, kind, amount, reason, actor, event_id)
  values (credit_id, credited_account, credit_kind, credit_amount, credit_reason, credit_actor,
    provider_event)
  on conflict do nothing;
  if not found then
    return false;
  end if;

  origin := case credit_kind when 'forgiveness' then 'write_off' else credit_kind end;
  if credit_kind = 'forgiveness' then
    if credit_amount < 0 or credit_amount > locked.debt then
      raise exception 'only a debt of % can be forgiven', locked.debt
        using errcode = 'check_violation';
    end if;
    insert into entry (posting, step, account_id, currency, source, destination, amount)
    values (credit_id, 'forgive', credited_account, locked.currency, origin, 'debt',
      credit_amount);
    update balance set debt = debt - credit_amount where account_id = credited_account;
  elsif credit_amount > 0 then
    repaid := least(credit_amount, locked.debt);
    insert into entry (posting, step, account_id, currency, source, destination, amount)
    select credit_id, m.step, credited_account, locked.currency, origin, m.destination, m.amount
    from (values ('repay', 'debt', repaid), ('credit', 'available', credit_amount - repaid))
      as m(step, destination, amount)
    where m.amount > 0;
    update balance set available = available + credit_amount - repaid, debt = debt - repaid
    where account_id = credited_account;
  else
    if locked.available < -credit_amount then
      raise exception 'only % is available', locked.available using errcode = 'check_violation';
    end if;
    insert into entry (posting, step, account_id, currency, source, destination, amount)
    values (credit_id, 'debit', credited_account, locked.currency, 'available', 'adjustment',
      -credit_amount);
    update balance set available = available + credit_amount where account_id = credited_account;
  end if;
  return true;
end $$;
