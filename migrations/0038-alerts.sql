-- Alerts: the mail that states them, the account's address for their webhooks, and what finds them.

-- Null for what operators have to know.
alter table alert_event alter column account_id drop not null;
alter table alert_event alter column once set default gen_random_uuid()::text;
alter table alert_event alter column subject set default '{}';
-- When its webhook and its mail were enqueued, in one transaction.
alter table alert_event add column dispatched_at timestamptz;
create index alert_event_waiting on alert_event (id) where dispatched_at is null;

-- A mail to one person. The row is the queue: due time, lease and fence are in it.
create table mail (
  id text primary key,
  address text not null check (length(address) between 3 and 254),
  language text not null,
  -- The kind of its alert; what the texts are made of is in `params`.
  kind text not null,
  params jsonb not null,
  -- A cause is mailed to a person once.
  once text not null unique,
  state text not null default 'pending' check (state in ('pending', 'sent', 'failed')),
  -- Attempts begun; committed before anything is sent.
  attempts smallint not null default 0,
  due_at timestamptz not null default now(),
  lease_until timestamptz,
  fence bigint not null default 0,
  -- Why the last attempt failed, for operators.
  error text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  check ((state = 'pending') = (finished_at is null)),
  check (state = 'pending' or lease_until is null)
) with (fillfactor = 80);
create index mail_due on mail (due_at) where state = 'pending';
create index mail_finished on mail (finished_at) where finished_at is not null;

alter table account add column alert_url text check (length(alert_url) <= 2048);

-- A copy of the account's mark, so that a statement that moves money sees a crossing in the row that
-- it writes anyway.
alter table balance add column low_balance_at bigint;
update balance b set low_balance_at = a.low_balance_at
from account a where a.id = b.account_id and a.low_balance_at is not null;

create index api_key_expiring on api_key (expires_at)
  where expires_at is not null and disabled_at is null;
