-- revision 2
-- Alerts that statements find which move money. Each is recorded in the statement's transaction.

-- The balance is what is available or on hold: a hold alone crosses no mark. The condition is
-- evaluated for each row that is written, without a call of the function, and accounts without a mark
-- end at its first comparison. A difference cannot overflow where a sum could.
create or replace function alert_balance_low() returns trigger
language plpgsql
as $$
begin
  insert into alert_event (kind, account_id, subject)
  values ('balance_low', new.account_id, jsonb_build_object('currency', new.currency,
    'available', new.available::text, 'held', new.held::text, 'debt', new.debt::text,
    'low_balance_at', new.low_balance_at::text));
  return null;
end $$;
create or replace trigger balance_low
  after update of available, held, low_balance_at on balance
  for each row when (
    new.available < new.low_balance_at - new.held
    and (old.available < old.low_balance_at - old.held) is not true)
  execute function alert_balance_low();

-- Copies the mark of an account, whichever version of the gateway sets it.
create or replace function copy_low_balance_at() returns trigger
language plpgsql
as $$
begin
  update balance set low_balance_at = new.low_balance_at
  where account_id = new.id and low_balance_at is distinct from new.low_balance_at;
  return null;
end $$;
create or replace trigger account_low_balance_at
  after update of low_balance_at on account
  for each row when (new.low_balance_at is distinct from old.low_balance_at)
  execute function copy_low_balance_at();

-- Records the first call since the last credit that the balance does not cover.
create or replace function alert_balance_empty(of_account text, required bigint) returns void
language plpgsql
as $$
declare
  mark text := 'balance_empty:' || of_account || ':' || coalesce((
    select c.id from credit c where c.account_id = of_account and c.amount > 0
    order by c.created_at desc, c.id limit 1), '');
begin
  if exists (select from alert_event where once = mark and account_id = of_account) then
    return;
  end if;
  insert into alert_event (kind, account_id, once, subject)
  select 'balance_empty', of_account, mark, jsonb_build_object('currency', b.currency,
    'required', required::text, 'available', b.available::text, 'held', b.held::text,
    'debt', b.debt::text)
  from balance b where b.account_id = of_account
  on conflict (once) do nothing;
end $$;

-- Wakes the processes that enqueue webhooks and mail.
create or replace function notify_alert() returns trigger
language plpgsql
as $$
begin
  perform pg_notify('tributary_alert', '');
  return null;
end $$;
create or replace trigger alert_notify after insert on alert_event
  for each statement execute function notify_alert();
