-- Lists of tasks of every kind, and what an account's owner sets in the console.
create index task_of_account on task (account_id, created_at desc, id desc)
  where deleted_at is null;

alter table account
  -- Below this much the console warns; null: it judges by itself.
  add column low_balance_at bigint check (low_balance_at >= 0);

-- `playground`: made by the console for an hour, and not in the list of keys.
alter table api_key
  add column purpose text not null default 'calls' check (purpose in ('calls', 'playground'));
